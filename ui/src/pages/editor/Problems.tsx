/** What is wrong with the document; each leads to its place. */

import { Icon } from "../../components/Icon";
import type { Checked } from "./use-check";

interface Props {
  checked: Checked;
  onAim: (pointer: string) => void;
}

export function Problems({ checked: { problems, current }, onAim }: Props) {
  const errors = problems.filter(({ warning }) => !warning).length;
  return (
    <section className="ed-problems" aria-label="Problems" aria-busy={!current}>
      <h2 className="ed-verdict" aria-live="polite">
        {problems.length === 0 ? (
          <>
            <Icon name="check" size={14} /> {current ? "No problems" : "Checking"}
          </>
        ) : (
          <>
            <Icon name="warning" size={14} /> {told(errors, problems.length - errors)}
          </>
        )}
      </h2>
      <ul>
        {problems.map(({ pointer, message, warning }) => (
          <li key={`${pointer} ${message}`} className={warning ? "warning" : "error"}>
            {pointer ? (
              <button type="button" onClick={() => onAim(pointer)}>
                <code>{pointer}</code> {message}
              </button>
            ) : (
              message
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function told(errors: number, warnings: number): string {
  const parts = [counted(errors, "error"), counted(warnings, "warning")];
  return parts.filter(Boolean).join(", ");
}

function counted(count: number, noun: string): string {
  return count === 0 ? "" : `${count} ${noun}${count === 1 ? "" : "s"}`;
}
