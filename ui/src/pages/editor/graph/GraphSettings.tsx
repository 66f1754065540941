/** What holds for the whole graph: shown while nothing is selected. */

import type { Json } from "../../../api/types";
import { isObject, type SchemaObject } from "../../../components/SchemaFormModel";
import type { Problem } from "../problems";
import { PartForm } from "./PartForm";
import { fieldsOf } from "./source";
import type { Language } from "./use-language";

interface Props {
  graph: Json;
  language: Language;
  problems: Problem[];
  onChange: (graph: Json, mark: string) => void;
}

export function GraphSettings({ graph, language, problems, onChange }: Props) {
  const { nodes, edges, ...rest } = fieldsOf(graph);
  const own = problems.filter(({ pointer }) => !/^\/(nodes|edges)(\/|$)/.test(pointer));
  const change = (next: Json | undefined) =>
    onChange(
      {
        ...fieldsOf(next),
        ...(nodes === undefined ? {} : { nodes }),
        ...(edges === undefined ? {} : { edges }),
      },
      "settings",
    );
  return (
    <aside className="ed-panel" aria-label="Settings of the graph">
      <header className="ed-panel-head">
        <h2 className="grow">Settings of the graph</h2>
      </header>
      <p className="muted">Select a node to configure it.</p>
      <PartForm label="Settings" schema={settings(language)} value={rest} problems={own} onChange={change} />
    </aside>
  );
}

function settings(language: Language): SchemaObject {
  const whole = language.part("Source", []) as SchemaObject;
  const { nodes: _, edges: __, ...properties } = isObject(whole.properties) ? whole.properties : {};
  return { ...whole, properties, required: [] };
}
