/** The source of a run beside its graph: the statements that run now are lit, and each line says how its steps stand. */

import { useMemo, useState } from "react";
import type { RunSource, SourceView } from "../../../api/schema";
import type { Node } from "../../../api/types";
import { useResource } from "../../../api/use-resource";
import { Code } from "../../../components/code/Code";
import { ErrorBox } from "../../../components/ErrorBox";
import { StatusIcon } from "../../../components/Status";
import { Loading } from "../../../shell/fallbacks";
import { fileToShow, type LineSteps, litOf, wordsOf } from "./lit";
import "./source.css";

interface Props {
  id: string;
  source: SourceView;
  nodes: readonly Node[];
  selected: string | undefined;
  onSelect: (id: string) => void;
}

export default function SourcePane({ id, source, nodes, selected, onSelect }: Props) {
  const { data, error } = useResource<RunSource>(`/runs/${encodeURIComponent(id)}/source`);
  const [chosen, setChosen] = useState<number>();
  const file = chosen ?? fileToShow(source, nodes, selected);
  const text = data?.files[file]?.text.replaceAll("\r\n", "\n").replace(/^\ufeff/, "") ?? "";
  const lit = useMemo(() => litOf(source, nodes, { file, text, selected }), [source, nodes, file, text, selected]);
  const place = selected === undefined ? undefined : source.places[source.nodes[selected] ?? -1];
  return (
    <section className="source" aria-label="Source">
      {source.files.length > 1 && (
        <select
          className="input source-file mono"
          aria-label="File"
          value={file}
          onChange={(event) => setChosen(Number(event.target.value))}
        >
          {source.files.map((name, index) => (
            <option key={name} value={index}>
              {name}
            </option>
          ))}
        </select>
      )}
      {error && <ErrorBox error={error} title="Could not load the source" />}
      {!data && !error && <Loading what="Loading the source" />}
      {data && (
        <Code
          fills
          text={text}
          language={data.language}
          label={`Source ${source.files[file] ?? ""}`}
          marks={lit.marks}
          show={place?.file === file ? place.line - 1 : lit.first}
          beside={(line) => <StepsOfLine steps={lit.byLine.get(line)} onSelect={onSelect} />}
        />
      )}
    </section>
  );
}

function StepsOfLine({ steps, onSelect }: { steps: LineSteps | undefined; onSelect: (id: string) => void }) {
  if (!steps) return null;
  const words = wordsOf(steps);
  const first = steps.nodes.find(({ status }) => status === steps.status);
  return (
    <button
      type="button"
      className="source-steps"
      title={words}
      aria-label={words}
      onClick={() => first && onSelect(first.id)}
    >
      <StatusIcon status={steps.status} />
    </button>
  );
}
