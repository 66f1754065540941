/** A text with `@` completion: the references that a step may make are offered while one is typed. */

import { type KeyboardEvent, useId, useRef, useState } from "react";
import { Field } from "../../../components/Field";
import { matching, type Token, tokenAt, written } from "./completion";

interface Props {
  label: string;
  hint?: string;
  error?: string;
  value: string;
  onChange: (text: string) => void;
  refs: readonly string[];
  /** One line only. */
  single?: boolean;
}

type Control = HTMLTextAreaElement | HTMLInputElement;

export function RefText({ label, hint, error, value, onChange, refs, single = false }: Props) {
  const control = useRef<Control | null>(null);
  const [token, setToken] = useState<Token>();
  const [chosen, setChosen] = useState(0);
  const list = useId();
  const offered = token ? matching(refs, token.text) : [];
  const look = () => {
    const at = control.current?.selectionStart;
    setToken(at === null || at === undefined ? undefined : tokenAt(control.current?.value ?? "", at));
    setChosen(0);
  };
  const take = (ref: string) => {
    if (!token) return;
    const text = written(ref);
    onChange(value.slice(0, token.start) + text + value.slice(token.end));
    setToken(undefined);
    const caret = token.start + text.length;
    requestAnimationFrame(() => {
      control.current?.focus();
      control.current?.setSelectionRange(caret, caret);
    });
  };
  const press = (event: KeyboardEvent) => {
    const ref = offered[chosen];
    if (ref === undefined) return;
    if (event.key === "ArrowDown") setChosen((chosen + 1) % offered.length);
    else if (event.key === "ArrowUp") setChosen((chosen + offered.length - 1) % offered.length);
    else if (event.key === "Enter" || event.key === "Tab") take(ref);
    else if (event.key === "Escape") setToken(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const common = {
    value,
    spellCheck: false,
    autoComplete: "off",
    role: "combobox",
    "aria-autocomplete": "list" as const,
    "aria-expanded": offered.length > 0,
    "aria-controls": list,
    "aria-activedescendant": offered.length > 0 ? `${list}-${chosen}` : undefined,
    onKeyDown: press,
    onClick: look,
    onBlur: () => setToken(undefined),
  };
  return (
    <div className="ref-text">
      <Field label={label} hint={hint} error={error}>
        {(wired) =>
          single ? (
            <input
              {...common}
              {...wired}
              ref={(found) => {
                control.current = found;
              }}
              className="input mono"
              onChange={(event) => {
                onChange(event.target.value);
                look();
              }}
            />
          ) : (
            <textarea
              {...common}
              {...wired}
              ref={(found) => {
                control.current = found;
              }}
              className="input mono"
              rows={Math.min(16, Math.max(4, value.split("\n").length))}
              onChange={(event) => {
                onChange(event.target.value);
                look();
              }}
            />
          )
        }
      </Field>
      {offered.length > 0 && (
        <div className="ref-offers" id={list} role="listbox" aria-label="References">
          {offered.map((ref, index) => (
            <button
              key={ref}
              id={`${list}-${index}`}
              type="button"
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              onMouseDown={(event) => {
                event.preventDefault();
                take(ref);
              }}
            >
              <code>{written(ref)}</code>
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
