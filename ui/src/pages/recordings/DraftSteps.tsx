/** What was recorded, step by step, and whether it is in the workflow. */

import { useState } from "react";
import { Json } from "../../components/Json";
import { Status } from "../../components/Status";
import type { DraftStep } from "./draft";

interface Props {
  steps: DraftStep[];
  onInclude: (step: DraftStep, included: boolean) => void;
  onRename: (step: DraftStep, to: string) => void;
}

export function DraftSteps({ steps, ...rest }: Props) {
  return (
    <section className="card" aria-label="Recorded steps">
      <ol className="recording-steps">
        {steps.map((step) => (
          <Step key={step.name} step={step} {...rest} />
        ))}
      </ol>
    </section>
  );
}

function Step({ step, onInclude, onRename }: Omit<Props, "steps"> & { step: DraftStep }) {
  const { name, tool, status, included, reason, duplicate_of } = step;
  return (
    <li className={included ? "recording-step" : "recording-step left-out"}>
      <header className="row wrap">
        <label className="row">
          <input type="checkbox" checked={included} onChange={(event) => onInclude(step, event.target.checked)} />
          <strong>{name}</strong>
        </label>
        <span className="muted grow clip">{tool ?? "preset"}</span>
        <span className="muted">{duplicate_of ? `${reason} of ${duplicate_of}` : reason}</span>
        <Status status={status === "waiting" ? "pending" : status} />
      </header>
      {step.error && <p className="field-error">{step.error.message}</p>}
      <details>
        <summary>Input and output</summary>
        {included && <Rename key={step.template_name ?? name} step={step} onRename={onRename} />}
        <div className="recording-values">
          <Json value={step.input} label="Input" />
          <Json value={step.output ?? null} label="Output" />
        </div>
      </details>
    </li>
  );
}

/** Renamed when it is left: each letter would be another draft. */
function Rename({ step, onRename }: { step: DraftStep; onRename: Props["onRename"] }) {
  const before = step.template_name || step.name;
  const [text, setText] = useState(before);
  const done = () => text !== before && onRename(step, text.trim());
  return (
    <label className="row">
      Name in the workflow
      <input
        className="input"
        value={text}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        onBlur={done}
        onKeyDown={(event) => event.key === "Enter" && done()}
      />
    </label>
  );
}
