/** What a step does, by the kind of its action. */

import type { Json } from "../../../api/types";
import { useResource } from "../../../api/use-resource";
import { SelectField, TextArea, TextField } from "../../../components/Field";
import { type Fields, fieldsOf, textOf } from "../graph/source";
import { KIND_WORDS, KINDS, type Kind, type Step } from "./source";

interface ToolList {
  tools: { server: string; name: string; description: { description?: string } }[];
}

interface Props {
  step: Step;
  onKind: (kind: Kind) => void;
  onAction: (action: Fields, mark: string) => void;
}

export function ActionForm({ step, onKind, onAction }: Props) {
  const action = fieldsOf(step.fields.action);
  const set = (field: string, value: Json | undefined) => {
    const { [field]: _, ...rest } = action;
    onAction(value === undefined ? rest : { ...action, [field]: value }, `${field} ${step.name}`);
  };
  return (
    <>
      <SelectField label="Action" value={step.kind ?? ""} onChange={(event) => onKind(event.target.value as Kind)}>
        {step.kind === undefined && <option value="">Choose one</option>}
        {KINDS.map((kind) => (
          <option key={kind} value={kind}>
            {KIND_WORDS[kind]}
          </option>
        ))}
      </SelectField>
      {step.kind === "toolName" && (
        <ToolField name={textOf(action.toolName) ?? ""} onName={(name) => set("toolName", name)} />
      )}
      {step.kind === "function" && (
        <TextField
          label="Function"
          hint="A @step function of the server's program; the input gives its arguments"
          value={textOf(action.function) ?? ""}
          onChange={(event) => set("function", event.target.value)}
        />
      )}
      {step.kind === "workflow" && <WorkflowField action={action} onField={set} />}
      {step.kind === "code" && (
        <TextArea
          label="Code"
          hint="JavaScript or TypeScript with a default export that takes the input"
          rows={10}
          value={textOf(action.code) ?? ""}
          onChange={(event) => set("code", event.target.value)}
        />
      )}
      {(step.kind === "toolName" || step.kind === "function" || step.kind === "workflow") && (
        <TransformField action={action} onField={set} />
      )}
    </>
  );
}

/** The tools of the servers that the operator configured; another name may be typed. */
function ToolField({ name, onName }: { name: string; onName: (name: string) => void }) {
  const tools = useResource<ToolList>("/tools").data?.tools ?? [];
  const known = tools.find((tool) => name === tool.name || name === `${tool.server}:${tool.name}`);
  return (
    <>
      <TextField
        label="Tool"
        list="tools"
        hint={
          known?.description.description ??
          (tools.length === 0 ? "No MCP server is configured" : "server:TOOL, or its name")
        }
        value={name}
        onChange={(event) => onName(event.target.value)}
      />
      <datalist id="tools">
        {tools.map((tool) => (
          <option key={`${tool.server}:${tool.name}`} value={`${tool.server}:${tool.name}`} />
        ))}
      </datalist>
    </>
  );
}

type FieldProps = { action: Fields; onField: (field: string, value: Json | undefined) => void };

function WorkflowField({ action, onField }: FieldProps) {
  const inline = action.workflow !== undefined && typeof action.workflow !== "string";
  const names = useResource<{ definitions: { name: string }[] }>("/definitions").data?.definitions ?? [];
  if (inline) return <p className="muted">The workflow is written out in the definition; edit it as JSON.</p>;
  return (
    <>
      <TextField
        label="Workflow"
        list="workflows"
        hint="name, or name@version-or-tag, of any dialect"
        value={textOf(action.workflow) ?? ""}
        onChange={(event) => onField("workflow", event.target.value)}
      />
      <datalist id="workflows">
        {names.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <SelectField
        label="Wait for its end"
        value={String(action.wait !== false)}
        onChange={(event) => onField("wait", event.target.value === "true" ? undefined : false)}
      >
        <option value="true">Yes: its output is the step's</option>
        <option value="false">No: the step's output is its ID</option>
      </SelectField>
    </>
  );
}

function TransformField({ action, onField }: FieldProps) {
  return (
    <TextArea
      label={
        <>
          Transform <span className="schema-optional">optional</span>
        </>
      }
      hint="Code that reshapes the result; the result itself is kept, too"
      rows={action.transformCode ? 6 : 2}
      value={textOf(action.transformCode) ?? ""}
      onChange={(event) => onField("transformCode", event.target.value || undefined)}
    />
  );
}
