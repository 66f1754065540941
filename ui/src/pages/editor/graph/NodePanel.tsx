/** One node: its name and type, its config, where it leads, and how it branches, loops, waits, asks and retries. */

import { type ReactNode, useState } from "react";
import type { Json } from "../../../api/types";
import { Button, IconButton } from "../../../components/Button";
import { SelectField, TextField } from "../../../components/Field";
import { type Schema, schemaOf } from "../../../components/SchemaFormModel";
import { below, type Problem } from "../problems";
import { PartForm } from "./PartForm";
import { RouteList } from "./RouteList";
import { fieldsOf, nodesOf, type PlacedNode, type Route, routesOf, textOf } from "./source";
import type { Language } from "./use-language";

export interface NodePanelProps {
  graph: Json;
  placed: PlacedNode;
  language: Language;
  problems: Problem[];
  onField: (field: string, value: Json | undefined, mark?: string) => void;
  onRename: (to: string) => void;
  onConnect: (target: string) => void;
  onDisconnect: (route: Route) => void;
  onSelect: (id: string | undefined) => void;
  onRemove: () => void;
}

export function NodePanel(props: NodePanelProps) {
  const { graph, placed, language, onField, onSelect, onRemove } = props;
  const { id, node, index } = placed;
  const problems = below(props.problems, `/nodes/${index}`);
  const type = textOf(node.type) ?? "";
  // Those that no form below shows.
  const own = problems.filter(({ pointer }) => !FORMS.has(pointer.split("/")[1] ?? ""));
  return (
    <aside className="ed-panel" aria-label={`Node ${id}`}>
      <header className="ed-panel-head">
        <h2 className="clip grow">{textOf(node.name) || id}</h2>
        <IconButton icon="trash" label={`Delete ${id} (Delete)`} onClick={onRemove} />
        <IconButton icon="close" label="Close the node" onClick={() => onSelect(undefined)} />
      </header>
      {own.map(({ message }) => (
        <p key={message} className="field-error" role="alert">
          {message}
        </p>
      ))}
      <IdField {...props} />
      <TextField
        label="Label"
        hint="Shown instead of the ID."
        value={textOf(node.name) ?? ""}
        onChange={(event) => onField("name", event.target.value || undefined, `name ${id}`)}
      />
      <TypeField language={language} type={type} onType={(next) => onField("type", next)} />
      <ConfigForm key={type} {...props} type={type} problems={problems} />
      <RouteList {...props} routes={routesOf(graph)} ids={nodesOf(graph).map((one) => one.id)} id={id} />
      <Join node={node} onField={onField} />
      <Parts {...props} problems={problems} type={type} />
    </aside>
  );
}

/** Renamed when it is left: each letter of a new name would be another node. */
function IdField({ graph, placed: { id }, onRename }: NodePanelProps) {
  const [text, setText] = useState(id);
  const taken = text !== id && nodesOf(graph).some((one) => one.id === text);
  const bad = !/^[A-Za-z0-9_-]{1,64}$/.test(text);
  const error = taken ? "Another node has this ID." : bad ? "1 to 64 letters, digits, _ or -." : undefined;
  const done = () => (error === undefined ? text !== id && onRename(text) : setText(id));
  return (
    <TextField
      label="ID"
      error={error}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={done}
      onKeyDown={(event) => event.key === "Enter" && done()}
    />
  );
}

function TypeField({ language, type, onType }: { language: Language; type: string; onType: (type: string) => void }) {
  const known = language.types.map(({ type_name }) => type_name);
  const described = language.typeOf(type)?.description;
  return (
    <SelectField
      label="Type"
      hint={described || undefined}
      error={language.typeOf(type) ? undefined : "Unknown type."}
      value={type}
      onChange={(event) => onType(event.target.value)}
    >
      {!known.includes(type) && <option>{type}</option>}
      {known.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </SelectField>
  );
}

type PartProps = NodePanelProps & { type: string };

function ConfigForm({ placed: { id, node }, language, type, problems, onField }: PartProps) {
  const schema = schemaOf(language.typeOf(type)?.config_schema as Json | undefined);
  const nothing = schema !== undefined && typeof schema === "object" && isEmpty(schema);
  if (nothing || (type === "human" && node.config === undefined)) return null;
  return (
    <PartForm
      label="Config"
      schema={schema ?? true}
      value={node.config ?? {}}
      problems={below(problems, "/config")}
      onChange={(value) => onField("config", empty(value) ? undefined : value, `config ${id}`)}
    />
  );
}

function isEmpty(schema: { [keyword: string]: unknown }): boolean {
  return Object.keys(fieldsOf(schema.properties as Json)).length === 0 && schema.additionalProperties === false;
}

function empty(value: Json | undefined): boolean {
  return value === undefined || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
}

function Join({ node, onField }: Pick<NodePanelProps, "onField"> & { node: PlacedNode["node"] }) {
  const now = typeof node.wait_for_all === "boolean" ? String(node.wait_for_all) : "";
  return (
    <SelectField
      label="Several tokens"
      hint="A join waits for a token of each node that leads here."
      value={now}
      onChange={(event) =>
        onField("wait_for_all", event.target.value === "" ? undefined : event.target.value === "true")
      }
    >
      <option value="">Wait for all, if several lead here</option>
      <option value="true">Wait for all</option>
      <option value="false">Each by itself</option>
    </SelectField>
  );
}

interface Part {
  field: string;
  label: string;
  /** In the schema of the language. */
  schema: string;
  /** What it begins with. */
  first: Json;
  /** Only of these types, unless it is there. */
  only?: string[];
}

const PARTS: readonly Part[] = [
  { field: "human_config", label: "Approval", schema: "HumanConfig", first: {}, only: ["human", "hitl"] },
  { field: "agent_config", label: "Agent", schema: "AgentConfig", first: { model: "" }, only: ["agent"] },
  { field: "branch", label: "Branch", schema: "Branch", first: { rules: [{ condition: "", next_nodes: [] }] } },
  { field: "loop", label: "Loop", schema: "Loop", first: { condition: "", max_iterations: 3 } },
  { field: "retry", label: "Retry", schema: "Retry", first: { max_attempts: 3 } },
  { field: "limits", label: "Limits", schema: "NodeLimits", first: { deadline_s: 300 } },
  { field: "compensator", label: "Compensation", schema: "Compensator", first: { action: "" } },
  { field: "capabilities", label: "Guardrails", schema: "Capabilities", first: {} },
];

const FORMS: ReadonlySet<string> = new Set(["config", ...PARTS.map(({ field }) => field)]);

function Parts(props: PartProps) {
  const { placed, type } = props;
  const shown = PARTS.filter(({ field, only }) => !only || only.includes(type) || placed.node[field] !== undefined);
  const there = shown.filter(({ field }) => placed.node[field] !== undefined);
  const absent = shown.filter(({ field }) => placed.node[field] === undefined);
  return (
    <>
      {there.map((part) => (
        <PartSection key={part.field} {...props} part={part} />
      ))}
      <div className="row wrap">
        {absent.map(({ field, label, first }) => (
          <Button key={field} className="small" icon="plus" onClick={() => props.onField(field, first)}>
            {label}
          </Button>
        ))}
      </div>
      <QueueField {...props} />
    </>
  );
}

function PartSection({ graph, placed: { id, node }, language, problems, onField, part }: PartProps & { part: Part }) {
  const { field, label, schema } = part;
  const ids = nodesOf(graph).map((one) => one.id);
  const found: Schema = language.part(schema, ids);
  return (
    <Section label={label} onRemove={() => onField(field, undefined)}>
      <PartForm
        label={label}
        schema={found}
        value={node[field] ?? null}
        problems={below(problems, `/${field}`)}
        onChange={(value) => onField(field, value, `${field} ${id}`)}
      />
    </Section>
  );
}

function Section({ label, onRemove, children }: { label: string; onRemove: () => void; children: ReactNode }) {
  return (
    <section className="ed-part" aria-label={label}>
      {children}
      <IconButton
        icon="close"
        className="small ed-part-remove"
        label={`Remove ${label.toLowerCase()}`}
        onClick={onRemove}
      />
    </section>
  );
}

function QueueField({ placed: { id, node }, onField }: NodePanelProps) {
  return (
    <TextField
      label={
        <>
          Queue <span className="schema-optional">optional</span>
        </>
      }
      hint="The queue of its workers; default: this server, or the queue of its type."
      value={textOf(node.queue) ?? ""}
      onChange={(event) => onField("queue", event.target.value || undefined, `queue ${id}`)}
    />
  );
}
