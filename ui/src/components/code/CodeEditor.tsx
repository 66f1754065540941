/** Source text to be written by hand: coloured as it is typed, with what is wrong marked at its line and told below. */

import { useId, useMemo, useRef, useState } from "react";
import { groupBy } from "../group-by";
import { Line } from "./Code";
import type { Mark } from "./marks";
import { linesOf } from "./tokens";
import "../json-editor.css";
import "./code-editor.css";

export interface Finding {
  /** From 1. */
  line: number;
  /** In units of the text, from 0. */
  from: number;
  to: number;
  message: string;
  warning: boolean;
}

interface CodeEditorProps {
  label: string;
  value: string;
  language: string;
  findings: readonly Finding[];
  onChange: (text: string) => void;
}

export function CodeEditor({ label, value, language, findings, onChange }: CodeEditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [scrolled, setScrolled] = useState({ top: 0, left: 0 });
  const id = useId();
  const lines = useMemo(() => linesOf(value, language), [value, language]);
  const marks = useMemo(() => groupBy(findings.map(markOf), ({ line }) => line), [findings]);
  const goTo = ({ line, from, to }: Finding) => {
    const start = startOf(value, line);
    field.current?.focus();
    field.current?.setSelectionRange(start + from, start + Math.max(to, from));
  };
  return (
    <div className="field code-editor">
      <label htmlFor={id}>{label}</label>
      <div className="editor">
        <div className="editor-gutter" aria-hidden="true">
          <div style={{ transform: `translateY(${-scrolled.top}px)` }}>
            {[...marks.keys()].map((line) => (
              <span key={line} className="editor-mark" style={{ top: `${line * 18}px` }} />
            ))}
            <pre>{lines.map((_, index) => index + 1).join("\n")}</pre>
          </div>
        </div>
        <div className="code-layers">
          <div className="code-under" aria-hidden="true">
            <div style={{ transform: `translate(${-scrolled.left}px, ${-scrolled.top}px)` }}>
              {lines.map((tokens, index) => {
                const key = index; // A line is known by its place only.
                return (
                  <div key={key} className="code-under-line">
                    <Line tokens={tokens} marks={marks.get(index) ?? []} />
                  </div>
                );
              })}
            </div>
          </div>
          <textarea
            ref={field}
            id={id}
            className="mono"
            wrap="off"
            spellCheck={false}
            autoComplete="off"
            value={value}
            aria-invalid={findings.some(({ warning }) => !warning) || undefined}
            aria-describedby={findings.length > 0 ? `${id}-told` : undefined}
            onScroll={({ currentTarget: { scrollTop: top, scrollLeft: left } }) => setScrolled({ top, left })}
            onChange={(event) => onChange(event.target.value)}
          />
        </div>
      </div>
      {findings.length > 0 && (
        <ul id={`${id}-told`} className="editor-told">
          {findings.map((finding) => (
            <li key={`${finding.line} ${finding.from} ${finding.message}`} className={finding.warning ? "muted" : ""}>
              <button type="button" onClick={() => goTo(finding)}>
                line {finding.line}
              </button>
              {finding.message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function markOf({ line, from, to, warning }: Finding): Mark {
  return { line: line - 1, from, to: Math.max(to, from + 1), look: warning ? "code-warning" : "code-wrong" };
}

/** Where a line begins, that is counted from 1. */
function startOf(text: string, line: number): number {
  let at = 0;
  for (let left = line - 1; left > 0; left--) {
    const end = text.indexOf("\n", at);
    if (end < 0) return at;
    at = end + 1;
  }
  return at;
}
