/** A program to be written: its files, one at a time, with what the compiler says of each. */

import { useState } from "react";
import { CodeEditor } from "../../../components/code/CodeEditor";
import { textsOf, withText } from "../../../components/code/texts";
import { Empty } from "../../../components/Empty";
import type { CanvasProps } from "../editors";
import { useFindings } from "./use-findings";
import "./source-editor.css";

const LANGUAGE = "afl";

export default function SourceCanvas({ value, onChange }: CanvasProps) {
  const texts = textsOf(value);
  const [chosen, setChosen] = useState(0);
  const findings = useFindings(value);
  if (!texts) {
    return <Empty title="There is no source to edit">This version was saved compiled. Edit it as JSON.</Empty>;
  }
  const index = Math.min(chosen, texts.files.length - 1);
  const file = texts.files[index];
  if (!file) return <Empty title="The program has no files">Add one as JSON.</Empty>;
  const several = texts.files.length > 1;
  return (
    <div className="ed-source">
      {several && (
        <select
          className="input mono"
          aria-label="File"
          value={index}
          onChange={(event) => setChosen(Number(event.target.value))}
        >
          {texts.files.map(({ name }, at) => (
            <option key={name} value={at}>
              {name}
            </option>
          ))}
        </select>
      )}
      <CodeEditor
        label={several ? file.name : "Source"}
        language={LANGUAGE}
        value={file.text}
        findings={findings.filter((one) => !several || one.file === file.name)}
        onChange={(text) => onChange(withText(value, index, text), `text ${index}`)}
      />
    </div>
  );
}
