/** JSON to be written by hand: numbered lines, and each problem marked at its line and told below. */

import { useId, useMemo, useRef, useState } from "react";
import type { FieldProblem } from "../api/types";
import { jsonPositions, lineAt, placeOf } from "./jsonPositions";
import "./json-editor.css";

interface JsonEditorProps {
  label: string;
  value: string;
  onChange: (text: string) => void;
  problems?: readonly Pick<FieldProblem, "pointer" | "message">[];
  rows?: number;
}

interface Told {
  key: string;
  line: number;
  offset: number;
  pointer?: string;
  message: string;
}

export function JsonEditor({ label, value, onChange, problems = [], rows = 18 }: JsonEditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [top, setTop] = useState(0);
  const id = useId();
  const told = useMemo(() => toldOf(value, problems), [value, problems]);
  const lines = useMemo(() => Array.from({ length: value.split("\n").length }, (_, n) => n + 1).join("\n"), [value]);
  const goTo = (offset: number) => {
    const end = value.indexOf("\n", offset);
    field.current?.focus();
    field.current?.setSelectionRange(offset, end < 0 ? value.length : end);
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="editor">
        <div className="editor-gutter" aria-hidden="true">
          <div style={{ transform: `translateY(${-top}px)` }}>
            {told.map(({ key, line }) => (
              <span key={key} className="editor-mark" style={{ top: `${line * 18}px` }} />
            ))}
            <pre>{lines}</pre>
          </div>
        </div>
        <textarea
          ref={field}
          id={id}
          className="mono"
          rows={rows}
          wrap="off"
          spellCheck={false}
          autoComplete="off"
          value={value}
          aria-invalid={told.length > 0 || undefined}
          aria-describedby={told.length > 0 ? `${id}-told` : undefined}
          onScroll={(event) => setTop(event.currentTarget.scrollTop)}
          onChange={(event) => onChange(event.target.value)}
        />
      </div>
      {told.length > 0 && (
        <ul id={`${id}-told`} className="editor-told">
          {told.map(({ key, line, offset, pointer, message }) => (
            <li key={key}>
              <button type="button" onClick={() => goTo(offset)}>
                line {line + 1}
              </button>
              {pointer && <code>{pointer}</code>} {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function toldOf(text: string, problems: JsonEditorProps["problems"] = []): Told[] {
  const places = jsonPositions(text);
  const { broken } = places;
  if (broken) {
    const { offset, message } = broken;
    return [{ key: "broken", line: lineAt(text, offset), offset, message: `Invalid JSON: ${message}.` }];
  }
  return problems.map(({ pointer, message }) => {
    const offset = placeOf(places, pointer);
    return { key: `${pointer} ${message}`, line: lineAt(text, offset), offset, pointer, message };
  });
}
