/** Two versions of a program, file by file. */

import { textsOf } from "../../../components/code/texts";
import { TextDiff } from "../../../components/TextDiff";
import type { DifferenceProps } from "../editors";

export default function SourceDifference({ before, after }: DifferenceProps) {
  const [old, now] = [textsOf(before), textsOf(after)];
  if (!old || !now) return null;
  const names = [...new Set([...old.files, ...now.files].map(({ name }) => name))];
  const textOf = (files: typeof old.files, name: string) => files.find((file) => file.name === name)?.text ?? "";
  return (
    <div className="stack">
      {names.map((name) => {
        const [a, b] = [textOf(old.files, name), textOf(now.files, name)];
        if (a === b) return null;
        return (
          <section key={name} className="stack tight" aria-label={`Difference of ${name}`}>
            {names.length > 1 && <h3 className="mono">{name}</h3>}
            <TextDiff a={a} b={b} language="afl" />
          </section>
        );
      })}
    </div>
  );
}
