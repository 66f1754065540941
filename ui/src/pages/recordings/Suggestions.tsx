/** Values that were probably taken from somewhere; nothing is changed unless a person says so. */

import { type Suggestion, sureness } from "./draft";

interface Props {
  suggestions: Suggestion[];
  accepted: readonly string[];
  onAccept: (id: string, yes: boolean) => void;
}

export function Suggestions({ suggestions, accepted, onAccept }: Props) {
  return (
    <section className="card stack tight" aria-label="Suggestions">
      <h2>Suggestions</h2>
      <p className="muted">Values that could be references, so that the workflow works for other inputs, too.</p>
      {suggestions.length === 0 && <p>None.</p>}
      <ul className="recording-suggestions">
        {suggestions.map((found) => (
          <li key={found.id}>
            <label className="row">
              <input
                type="checkbox"
                checked={accepted.includes(found.id)}
                onChange={(event) => onAccept(found.id, event.target.checked)}
              />
              <span className="grow">
                <strong>{found.step}</strong> <code>{found.pointer}</code>
                <br />
                {found.kind === "secret" ? (
                  "a secret"
                ) : (
                  <code className="recording-value">{JSON.stringify(found.value)}</code>
                )}{" "}
                → <code>{found.ref}</code>
                <br />
                <span className="muted">{found.why}</span>
              </span>
              <span className={`chip sure-${sureness(found.confidence)}`}>{found.confidence} %</span>
            </label>
          </li>
        ))}
      </ul>
    </section>
  );
}
