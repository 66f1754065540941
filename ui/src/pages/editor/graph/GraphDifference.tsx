/** Two graphs as one picture: what was added, removed and changed. */

import { useMemo, useState } from "react";
import { JsonDiff } from "../../../components/JsonDiff";
import Graph from "../../run/graph/Graph";
import type { DifferenceProps } from "../editors";
import { differenceRenderer } from "./DifferenceCard";
import { differenceOf } from "./difference";
import "./graph-editor.css";

export default function GraphDifference({ before, after }: DifferenceProps) {
  const difference = useMemo(() => differenceOf(before, after), [before, after]);
  const [selected, setSelected] = useState<string>();
  const pair = selected === undefined ? undefined : difference.nodes.get(selected);
  return (
    <div className="ed-difference">
      <Graph
        view={difference.view}
        selected={selected}
        onSelect={setSelected}
        look={differenceRenderer}
        label="Graph of the difference"
      />
      {pair && pair.change !== "same" && (
        <section className="stack tight" aria-label={`Difference of ${selected}`}>
          <h3>{selected}</h3>
          <JsonDiff a={pair.before ?? {}} b={pair.after ?? {}} />
        </section>
      )}
    </div>
  );
}
