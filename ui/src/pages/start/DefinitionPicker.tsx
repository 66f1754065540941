/** Picks a definition by typing a part of its name. */

import { useState } from "react";
import type { Definition } from "../../api/types";
import { Empty } from "../../components/Empty";
import { LoadedBadge } from "../definitions/LoadedBadge";
import { firstLine, matches } from "../definitions/versions";

interface Props {
  definitions: Definition[];
  /** A name that was asked for and is not there. */
  missing: string;
  onPick: (name: string) => void;
}

export function DefinitionPicker({ definitions, missing, onPick }: Props) {
  const [text, setText] = useState("");
  const found = definitions.filter((definition) => matches(definition, text));
  const first = found[0];
  return (
    <section className="stack tight start-picker" aria-labelledby="pick">
      <h2 id="pick">Choose a definition</h2>
      {missing && <p className="field-error">Definition {missing} not found.</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (first) onPick(first.name);
        }}
      >
        <input
          type="search"
          className="input"
          placeholder="Search definitions"
          aria-label="Search definitions"
          // biome-ignore lint/a11y/noAutofocus: choosing is the one thing to do here
          autoFocus
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </form>
      {found.length === 0 ? (
        <Empty icon="search" title={`No definitions match “${text}”`} />
      ) : (
        <ul className="card start-list">
          {found.map((definition) => (
            <li key={`${definition.dialect} ${definition.name}`}>
              <button type="button" className="start-choice" onClick={() => onPick(definition.name)}>
                <span className="grow">
                  <strong>{definition.name}</strong>
                  {definition.doc && <span className="muted start-doc">{firstLine(definition.doc)}</span>}
                </span>
                {!definition.loaded && <LoadedBadge loaded={false} />}
                <span className="chip">{definition.dialect}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
