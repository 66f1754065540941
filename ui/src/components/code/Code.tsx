/** Source text with numbered, coloured lines. Only the lines in view are in the page. */

import { type ReactNode, useEffect, useMemo, useRef } from "react";
import { groupBy } from "../group-by";
import { VirtualList, type VirtualListHandle } from "../VirtualList";
import { type Mark, pieces } from "./marks";
import { linesOf, type Token } from "./tokens";
import "./code.css";

export const LINE_HEIGHT = 18;
const MOST_LINES = 40;

interface CodeProps {
  text: string;
  language?: string;
  label: string;
  marks?: readonly Mark[];
  /** Beside the number of a line, from 0. */
  beside?: (line: number) => ReactNode;
  /** The line to bring into view, from 0; again when it changes. */
  show?: number;
  /** Takes the room that there is, rather than that of its lines. */
  fills?: boolean;
}

export function Code({ text, language, label, marks = [], beside, show, fills = false }: CodeProps) {
  const list = useRef<VirtualListHandle>(null);
  const lines = useMemo(() => linesOf(text, language), [text, language]);
  const byLine = useMemo(() => groupBy(marks, ({ line }) => line), [marks]);
  const widest = useMemo(() => text.split("\n").reduce((most, line) => Math.max(most, line.length), 0), [text]);
  useEffect(() => {
    if (show !== undefined) list.current?.show(show);
  }, [show]);
  const height = fills ? undefined : Math.min(lines.length, MOST_LINES) * LINE_HEIGHT + 14;
  return (
    <div className={fills ? "code fills" : "code"} style={{ height }}>
      <VirtualList
        ref={list}
        label={label}
        count={lines.length}
        rowHeight={LINE_HEIGHT}
        width={`calc(${widest}ch + 96px)`}
        row={(index, style) => (
          <div key={index} className="code-line" style={style} data-line={index + 1}>
            <span className="code-beside">{beside?.(index)}</span>
            <span className="code-place">{index + 1}</span>
            <Line tokens={lines[index] ?? []} marks={byLine.get(index) ?? []} />
          </div>
        )}
      />
    </div>
  );
}

export function Line({ tokens, marks }: { tokens: readonly Token[]; marks: readonly Mark[] }) {
  return (
    <code>
      {pieces(tokens, marks).map(({ kind, text, look }, index) => {
        const key = index; // A piece is known by its place in the line only.
        const name = look === undefined ? `code-${kind}` : `code-${kind} ${look}`;
        return kind === "plain" && look === undefined ? (
          text
        ) : (
          <span key={key} className={name}>
            {text}
          </span>
        );
      })}
    </code>
  );
}
