/** A workflow of steps: the list, the picture of what waits for what, and the panel of the selected step. */

import { useEffect, useMemo, useState } from "react";
import type { Json, Node } from "../../../api/types";
import { Empty } from "../../../components/Empty";
import { TextArea, TextField } from "../../../components/Field";
import { useKey } from "../../../shell/keys";
import Graph from "../../run/graph/Graph";
import type { CanvasProps } from "../editors";
import { fieldsOf, textOf } from "../graph/source";
import { partsOf } from "../json-patch";
import { refsFor } from "./completion";
import { StepList } from "./StepList";
import { StepPanel } from "./StepPanel";
import { addStep, moveStep, needsOf, removeStep, renameStep, setField, setKind, stepsOf } from "./source";
import { useSamples } from "./use-samples";
import "../graph/graph-editor.css";
import "./refs-editor.css";

export default function StepsCanvas({ value: document, onChange, problems, aim, name }: CanvasProps) {
  const [selected, setSelected] = useState<string>();
  const samples = useSamples(name);
  const steps = useMemo(() => stepsOf(document), [document]);
  const step = steps.find((one) => one.name === selected);
  const refs = useMemo(() => (step ? refsFor(document, step, samples) : []), [document, step, samples]);
  const remove = () => {
    if (step) onChange(removeStep(document, step.index));
    setSelected(undefined);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new aim selects
  useEffect(() => {
    const [list, index] = aim ? partsOf(aim.pointer) : [];
    if (list === "steps") setSelected(steps.find((one) => String(one.index) === index)?.name);
  }, [aim]);
  useKey("Delete", remove, { label: "Delete the selected step", group: "Editor" });
  useKey("Escape", () => setSelected(undefined), { label: "Select nothing", group: "Editor" });
  return (
    <div className="ed-steps">
      <StepList
        steps={steps}
        selected={selected}
        problems={problems}
        onSelect={setSelected}
        onAdd={(kind) => {
          const added = addStep(document, kind);
          onChange(added.document);
          setSelected(added.name);
        }}
        onMove={(index, by) => onChange(moveStep(document, index, by))}
      />
      <Picture document={document} selected={selected} onSelect={setSelected} />
      {step ? (
        <StepPanel
          key={step.name}
          document={document}
          step={step}
          refs={refs}
          problems={problems}
          onField={(field, next, mark) => onChange(setField(document, step.index, field, next), mark)}
          onKind={(kind) => onChange(setKind(document, step, kind))}
          onRename={(to) => {
            onChange(renameStep(document, step.name, to));
            setSelected(to);
          }}
          onRemove={remove}
          onClose={() => setSelected(undefined)}
        />
      ) : (
        <Settings document={document} onChange={onChange} />
      )}
    </div>
  );
}

interface PictureProps {
  document: Json;
  selected: string | undefined;
  onSelect: (name: string | undefined) => void;
}

function Picture({ document, selected, onSelect }: PictureProps) {
  const view = useMemo(() => pictureOf(document), [document]);
  const empty = <Empty title="Nothing to draw yet">The steps appear here, with an arrow for each reference.</Empty>;
  return <Graph view={view} selected={selected} onSelect={onSelect} label="Picture of the steps" empty={empty} />;
}

function pictureOf(document: Json) {
  const steps = stepsOf(document);
  const known = new Set(steps.map(({ name }) => name));
  const nodes = steps.map(({ name, kind }): Node => ({ id: name, label: name, kind: kind ?? "", status: "pending" }));
  const edges = steps.flatMap((step) =>
    [...needsOf(step)].filter((name) => known.has(name)).map((source) => ({ source, target: step.name })),
  );
  return { nodes, edges };
}

/** What holds for the workflow as a whole. */
function Settings({ document, onChange }: { document: Json; onChange: CanvasProps["onChange"] }) {
  const fields = fieldsOf(document);
  const set = (field: string, value: Json | undefined) => {
    const { [field]: _, ...rest } = fields;
    onChange(value === undefined ? rest : { ...fields, [field]: value }, field);
  };
  return (
    <aside className="ed-panel" aria-label="Workflow">
      <h2>Workflow</h2>
      <TextField
        label="Title"
        value={textOf(fields.title) ?? ""}
        onChange={(event) => set("title", event.target.value || undefined)}
      />
      <TextArea
        label="Description"
        rows={3}
        value={textOf(fields.description) ?? ""}
        onChange={(event) => set("description", event.target.value || undefined)}
      />
      <SchemaField schema={fields.input_schema} onSchema={(schema) => set("input_schema", schema)} />
      <p className="muted">Select a step to edit it.</p>
    </aside>
  );
}

function SchemaField({ schema, onSchema }: { schema: Json | undefined; onSchema: (schema: Json | undefined) => void }) {
  const [text, setText] = useState(() => (schema === undefined ? "" : JSON.stringify(schema, null, 2)));
  const [error, setError] = useState<string>();
  const change = (next: string) => {
    setText(next);
    try {
      onSchema(next.trim() === "" ? undefined : (JSON.parse(next) as Json));
      setError(undefined);
    } catch (thrown) {
      setError(`Invalid JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
  };
  return (
    <TextArea
      label="Input schema (JSON Schema)"
      hint="The input is checked against it before a run starts"
      error={error}
      rows={10}
      value={text}
      onChange={(event) => change(event.target.value)}
    />
  );
}
