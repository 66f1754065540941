/** Two workflows of steps: which steps were added, removed and changed. */

import { useMemo, useState } from "react";
import type { Json } from "../../../api/types";
import { JsonDiff } from "../../../components/JsonDiff";
import { equal } from "../../../components/JsonDiffModel";
import type { DifferenceProps } from "../editors";
import type { Fields } from "../graph/source";
import { stepsOf } from "./source";
import "../graph/graph-editor.css";
import "./refs-editor.css";

interface Changed {
  name: string;
  change: "added" | "removed" | "changed" | "same";
  before?: Fields;
  after?: Fields;
}

export default function StepsDifference({ before, after }: DifferenceProps) {
  const changes = useMemo(() => changesOf(before, after), [before, after]);
  const [selected, setSelected] = useState<string>();
  const shown = changes.find(({ name }) => name === selected);
  return (
    <div className="ed-difference">
      <ol className="step-changes" aria-label="Steps of both versions">
        {changes.map(({ name, change }) => (
          <li key={name} className={`change-${change}`}>
            <button
              type="button"
              disabled={change === "same"}
              aria-pressed={name === selected}
              onClick={() => setSelected(name)}
            >
              <strong>{name}</strong> <span className="muted">{change === "same" ? "unchanged" : change}</span>
            </button>
          </li>
        ))}
      </ol>
      {shown && shown.change !== "same" && (
        <section className="stack tight" aria-label={`Difference of ${shown.name}`}>
          <h3>{shown.name}</h3>
          <JsonDiff a={shown.before ?? {}} b={shown.after ?? {}} />
        </section>
      )}
    </div>
  );
}

function changesOf(before: Json, after: Json): Changed[] {
  const old = new Map(stepsOf(before).map(({ name, fields }) => [name, fields]));
  const kept = stepsOf(after).map(({ name, fields }): Changed => {
    const was = old.get(name);
    old.delete(name);
    return {
      name,
      change: was === undefined ? "added" : equal(was, fields) ? "same" : "changed",
      before: was,
      after: fields,
    };
  });
  const gone = [...old].map(([name, fields]): Changed => ({ name, change: "removed", before: fields }));
  return [...kept, ...gone];
}
