import { type FormEvent, useEffect, useRef, useState } from "react";
import type { Definition } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { Icon } from "../../components/Icon";
import { STATUS_WORDS, StatusIcon } from "../../components/Status";
import { useKey } from "../../shell/keys";
import { useMe } from "../../shell/me";
import { useQuery } from "../../shell/router";
import { type Filter, isLabel, STATUSES, toggled } from "./filter";

interface FiltersProps {
  filter: Filter;
  onFilter: (filter: Filter) => void;
}

export function Filters({ filter, onFilter }: FiltersProps) {
  const definitions = useResource<{ definitions: Definition[] }>("/definitions");
  const names = new Set(definitions.data?.definitions.map((one) => one.name));
  if (filter.definition) names.add(filter.definition);
  const { dialects = [] } = useMe();
  return (
    <search className="filters">
      <Search filter={filter} onFilter={onFilter} />
      <fieldset className="statuses">
        <legend className="visually-hidden">Status</legend>
        {STATUSES.map((status) => (
          <button
            key={status}
            type="button"
            className="pill"
            aria-pressed={filter.statuses.includes(status)}
            onClick={() => onFilter({ ...filter, statuses: toggled(filter.statuses, status) })}
          >
            <StatusIcon status={status} size={12} />
            <span aria-hidden="true">{STATUS_WORDS[status]}</span>
          </button>
        ))}
      </fieldset>
      <Choice
        label="Definition"
        value={filter.definition}
        values={[...names].sort()}
        onChange={(definition) => onFilter({ ...filter, definition })}
      />
      <Choice
        label="Dialect"
        value={filter.dialect}
        values={dialects}
        onChange={(dialect) => onFilter({ ...filter, dialect })}
      />
      <Labels filter={filter} onFilter={onFilter} />
      {filter.parent && (
        <Removable name={`children of ${filter.parent}`} onRemove={() => onFilter({ ...filter, parent: "" })} />
      )}
    </search>
  );
}

/** Typing is quicker than the server needs to answer each letter: the URL follows after a short rest. */
function Search({ filter, onFilter }: FiltersProps) {
  const [text, setText] = useState(filter.q);
  const field = useRef<HTMLInputElement>(null);
  const [query, setQuery] = useQuery();
  const wanted = query.get("focus") === "search";
  const latest = useRef({ filter, onFilter });
  latest.current = { filter, onFilter };
  useEffect(() => setText(filter.q), [filter.q]);
  useEffect(() => {
    if (text === latest.current.filter.q) return;
    const timer = window.setTimeout(() => {
      latest.current.onFilter({ ...latest.current.filter, q: text });
    }, 200);
    return () => window.clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    if (!wanted) return;
    field.current?.focus();
    setQuery({ focus: undefined });
  }, [wanted, setQuery]);
  useKey("Escape", () => field.current?.blur());
  return (
    <label className="search">
      <Icon name="search" />
      <span className="visually-hidden">Search runs</span>
      <input
        ref={field}
        type="search"
        placeholder="Search id, definition, label, error"
        value={text}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
      />
      <span className="hint" aria-hidden="true">
        <kbd>/</kbd>
      </span>
    </label>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  values: string[];
  onChange: (value: string) => void;
}

function Choice({ label, value, values, onChange }: ChoiceProps) {
  return (
    <select
      className={value ? "choice set" : "choice"}
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">Any {label.toLowerCase()}</option>
      {values.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  );
}

function Labels({ filter, onFilter }: FiltersProps) {
  const [text, setText] = useState("");
  const add = (event: FormEvent) => {
    event.preventDefault();
    const label = text.trim();
    if (!isLabel(label)) return;
    onFilter({ ...filter, labels: [...new Set([...filter.labels, label])] });
    setText("");
  };
  return (
    <>
      <form onSubmit={add}>
        <input
          className="label-input"
          aria-label="Filter by label (key:value)"
          placeholder="label:value ↵"
          value={text}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => setText(event.target.value)}
        />
      </form>
      {filter.labels.map((label) => (
        <Removable
          key={label}
          name={label}
          onRemove={() => onFilter({ ...filter, labels: toggled(filter.labels, label) })}
        />
      ))}
    </>
  );
}

function Removable({ name, onRemove }: { name: string; onRemove: () => void }) {
  return (
    <span className="removable">
      <span className="clip">{name}</span>
      <button type="button" aria-label={`Remove the filter ${name}`} onClick={onRemove}>
        <Icon name="close" size={12} />
      </button>
    </span>
  );
}
