/** The difference of two texts by line: side by side on a wide page, one column on a narrow one. */

import { createContext, useContext, useMemo, useState, useSyncExternalStore } from "react";
import { Line as CodeLine } from "./code/Code";
import type { Mark } from "./code/marks";
import { linesOf, type Token } from "./code/tokens";
import { type Line, type Piece, type Row, rowsOf, type Stretch, stretches, wordsOf } from "./TextDiffModel";
import "./TextDiff.css";

const WIDE = "(min-width: 900px)";
const MOST_ROWS = 400;

interface Props {
  a: string;
  b: string;
  /** What the two are called, such as two versions. */
  nameA?: string;
  nameB?: string;
  /** Of both; one that is not known is not coloured. */
  language?: string;
}

/** The coloured lines of the two texts. */
const Coloured = createContext<{ a: Token[][]; b: Token[][] }>({ a: [], b: [] });

export function TextDiff({ a, b, nameA = "before", nameB = "after", language }: Props) {
  const parts = useMemo(() => stretches(rowsOf(a, b)), [a, b]);
  const wide = useWide();
  const coloured = useMemo(() => ({ a: linesOf(a, language), b: linesOf(b, language) }), [a, b, language]);
  if (a === b) return <p className="muted textdiff-none">No differences.</p>;
  return (
    <div className="textdiff">
      <table className={wide ? "textdiff-table wide" : "textdiff-table"}>
        <caption className="visually-hidden">
          Changes from {nameA} to {nameB}
        </caption>
        <Columns wide={wide} />
        <thead>
          <tr>
            <th scope="colgroup" colSpan={3}>
              {wide ? nameA : `${nameA} → ${nameB}`}
            </th>
            {wide && (
              <th scope="colgroup" colSpan={3}>
                {nameB}
              </th>
            )}
          </tr>
        </thead>
        <Coloured value={coloured}>
          {parts.map((part) => (
            <Part key={keyOf(part)} part={part} wide={wide} />
          ))}
        </Coloured>
      </table>
    </div>
  );
}

function Columns({ wide }: { wide: boolean }) {
  const side = ["number", "mark", "line"];
  const all = wide ? [...side, ...side.map((name) => `${name} right`)] : ["number", "mark", "line"];
  return (
    <colgroup>
      {all.map((name) => (
        <col key={name} className={`textdiff-${name}`} />
      ))}
    </colgroup>
  );
}

function keyOf(part: Stretch): string {
  const first = part.rows[0];
  return `${first?.a?.number ?? "-"} ${first?.b?.number ?? "-"}`;
}

function Part({ part, wide }: { part: Stretch; wide: boolean }) {
  const [open, setOpen] = useState(!part.folded);
  const [most, setMost] = useState(MOST_ROWS);
  const span = wide ? 6 : 3;
  if (!open) {
    return (
      <tbody>
        <tr className="textdiff-fold">
          <td colSpan={span}>
            <button type="button" onClick={() => setOpen(true)}>
              Show {part.rows.length} unchanged lines
            </button>
          </td>
        </tr>
      </tbody>
    );
  }
  const rows = part.rows.slice(0, most);
  const left = part.rows.length - rows.length;
  return (
    <tbody>
      {wide ? rows.map((row) => <WideRow key={rowKey(row)} row={row} />) : <NarrowRows rows={rows} />}
      {left > 0 && (
        <tr className="textdiff-fold">
          <td colSpan={span}>
            <button type="button" onClick={() => setMost(most + 5 * MOST_ROWS)}>
              Show more ({left} rows left)
            </button>
          </td>
        </tr>
      )}
    </tbody>
  );
}

function rowKey(row: Row): string {
  return `${row.a?.number ?? "-"} ${row.b?.number ?? "-"}`;
}

function WideRow({ row }: { row: Row }) {
  const words = row.kind === "changed" ? wordsOf(row.a.text, row.b.text) : undefined;
  return (
    <tr>
      <Side of="a" line={row.a} kind={row.kind === "same" ? "same" : "removed"} pieces={words?.a} />
      <Side of="b" line={row.b} kind={row.kind === "same" ? "same" : "added"} pieces={words?.b} />
    </tr>
  );
}

/** In one column a replaced stretch reads as all old lines, then all new ones. */
function NarrowRows({ rows }: { rows: Row[] }) {
  const out: { key: string; of: "a" | "b"; line: Line; kind: Kind; pieces: Piece[] | undefined }[] = [];
  let added: typeof out = [];
  for (const row of rows) {
    const words = row.kind === "changed" ? wordsOf(row.a.text, row.b.text) : undefined;
    if (row.kind === "same") {
      out.push(...added, { key: `s${row.a.number}`, of: "b", line: row.b, kind: "same", pieces: undefined });
      added = [];
      continue;
    }
    if (row.a) out.push({ key: `a${row.a.number}`, of: "a", line: row.a, kind: "removed", pieces: words?.a });
    if (row.b) added.push({ key: `b${row.b.number}`, of: "b", line: row.b, kind: "added", pieces: words?.b });
  }
  return [...out, ...added].map(({ key, ...side }) => (
    <tr key={key}>
      <Side {...side} />
    </tr>
  ));
}

type Kind = "same" | "removed" | "added";
const MARKS: { [kind in Kind]: string } = { same: "", removed: "−", added: "+" };

interface SideProps {
  /** Which of the two texts it is a line of. */
  of: "a" | "b";
  line: Line | undefined;
  kind: Kind;
  pieces: Piece[] | undefined;
}

function Side({ of, line, kind, pieces }: SideProps) {
  const coloured = useContext(Coloured);
  if (!line) return <td className="textdiff-hole" colSpan={3} />;
  const tokens = coloured[of][line.number - 1] ?? [{ kind: "plain" as const, text: line.text }];
  return (
    <>
      <td className="textdiff-number">{line.number}</td>
      <td className={`textdiff-mark ${kind}`}>
        {kind !== "same" && (
          <>
            <span aria-hidden="true">{MARKS[kind]}</span>
            <span className="visually-hidden">{kind}</span>
          </>
        )}
      </td>
      <td className={`textdiff-line ${kind}`}>
        <CodeLine tokens={tokens} marks={pieces ? marksOf(pieces) : []} />
      </td>
    </>
  );
}

function marksOf(words: readonly Piece[]): Mark[] {
  let at = 0;
  return words.flatMap(({ text, changed }) => {
    const from = at;
    at += text.length;
    return changed ? [{ line: 0, from, to: at, look: "textdiff-word" }] : [];
  });
}

function useWide(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = window.matchMedia?.(WIDE);
      media?.addEventListener("change", listener);
      return () => media?.removeEventListener("change", listener);
    },
    () => window.matchMedia?.(WIDE).matches ?? true,
  );
}
