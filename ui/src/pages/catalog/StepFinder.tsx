/** Finds a step by a part of its name: the first few that fit, by mouse or by keys. */

import { type KeyboardEvent, useDeferredValue, useId, useState } from "react";
import type { Step } from "../../api/goals";
import { type Indexed, search } from "./indexed";

const FEW = 8;

interface StepFinderProps {
  catalog: Indexed;
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
  const q = useDeferredValue(text);
  const found = open ? found8(catalog, q, without) : [];
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
        aria-expanded={open && found.length > 0}
        aria-controls={open && found.length > 0 ? id : undefined}
        aria-activedescendant={open && found.length > 0 ? `${id}-${current}` : undefined}
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
      {open && found.length > 0 && (
        <div id={id} role="listbox" aria-label={label} className="finder-list">
          {found.map((step, index) => (
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
              onClick={() => pick(step)}
            >
              <span className="clip">{step.name}</span>
              <code className="clip faint">{step.id}</code>
              <span className="chip">{step.type}</span>
            </div>
          ))}
        </div>
      )}
      {open && text.trim() !== "" && found.length === 0 && <div className="finder-list finder-none">No step fits</div>}
    </div>
  );
}

function found8(catalog: Indexed, q: string, without: readonly string[]): Step[] {
  const found = search(catalog, { q, type: "", health: "" }).slice(0, FEW + without.length);
  return found.filter(({ id }) => !without.includes(id)).slice(0, FEW);
}
