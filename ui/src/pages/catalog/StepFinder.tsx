/** Finds a step by a part of its name: the first few that fit, by mouse or by keys. */

import { type KeyboardEvent, useId, useState } from "react";
import type { Step } from "../../api/goals";
import { best, type CatalogIndex } from "./catalog-index";

const FEW = 8;

interface StepFinderProps {
  catalog: CatalogIndex;
  label: string;
  placeholder: string;
  onPick: (id: string) => void;
  /** Not offered. */
  without?: readonly string[];
}

export function StepFinder({ catalog, label, placeholder, onPick, without = [] }: StepFinderProps) {
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const id = useId();
  const found = open ? best(catalog, text, FEW, without) : [];
  const listed = found.length > 0;
  const current = Math.min(at, found.length - 1);
  const pick = (step: Step | undefined) => {
    if (!step) return;
    setText("");
    setOpen(false);
    onPick(step.id);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      setOpen(true);
      setAt((current + (event.key === "ArrowDown" ? 1 : -1) + found.length) % Math.max(found.length, 1));
    } else if (event.key === "Enter" && open) pick(found[current]);
    else if (event.key === "Escape" && open) setOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="finder">
      <input
        type="search"
        role="combobox"
        className="input"
        aria-label={label}
        placeholder={placeholder}
        aria-expanded={listed}
        aria-controls={listed ? id : undefined}
        aria-activedescendant={listed ? `${id}-${current}` : undefined}
        aria-autocomplete="list"
        autoComplete="off"
        value={text}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={keys}
        onChange={(event) => {
          setText(event.target.value);
          setOpen(true);
          setAt(0);
        }}
      />
      {listed && <Options id={id} label={label} steps={found} current={current} onPick={pick} />}
      {open && text.trim() !== "" && found.length === 0 && (
        <div className="finder-list finder-none">No matching steps</div>
      )}
    </div>
  );
}

interface OptionsProps {
  id: string;
  label: string;
  steps: Step[];
  current: number;
  onPick: (step: Step) => void;
}

function Options({ id, label, steps, current, onPick }: OptionsProps) {
  return (
    <div id={id} role="listbox" aria-label={label} className="finder-list">
      {steps.map((step, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
        <div
          key={step.id}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === current}
          className="finder-item"
          // Before the field loses the focus.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onPick(step)}
        >
          <span className="clip">{step.name}</span>
          <code className="clip faint">{step.id}</code>
          <span className="chip">{step.type}</span>
        </div>
      ))}
    </div>
  );
}
