import type { Script } from "../../api/goals";

/** A script as it was written. */
export function ScriptText({ script, title }: { script: Script; title?: string }) {
  return (
    <figure className="script">
      <figcaption>
        {title && <span>{title}</span>} <span className="chip">{script.language}</span>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys */}
      <section tabIndex={0} aria-label={title ?? "script"}>
        <pre>{script.script}</pre>
      </section>
    </figure>
  );
}
