/** Somebody else has saved meanwhile: what they changed, and whether mine goes on top of it or is given up. */

import { useMemo } from "react";
import type { Json } from "../../api/types";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { JsonDiff } from "../../components/JsonDiff";
import type { Loaded } from "./documents";
import { merge } from "./merge";
import type { Document } from "./use-document";

interface Props {
  theirs: Loaded;
  document: Document;
  onClose: () => void;
  /** What the document is from now on; it stands on theirs. */
  onTake: (value: Json) => void;
}

export function ConflictDialog({ theirs, document: { base, value }, onClose, onTake }: Props) {
  const { value: merged, conflicts } = useMemo(() => merge(base.value, value, theirs.value), [base, value, theirs]);
  return (
    <Dialog
      wide
      title="Changed by someone else"
      onClose={onClose}
      footer={
        <>
          <Button look="danger" onClick={() => onTake(theirs.value)}>
            Discard my changes
          </Button>
          <span className="grow" />
          <Button onClick={onClose}>Back</Button>
          <Button look="primary" data-autofocus onClick={() => onTake(merged)}>
            Apply mine on top
          </Button>
        </>
      }
    >
      <p>
        You edited {base.at}; it is at {theirs.at} now. This changed meanwhile:
      </p>
      <JsonDiff a={base.value} b={theirs.value} />
      {conflicts.length > 0 && (
        <section className="stack tight" aria-label="Changed by both">
          <h3>Changed by both; yours would be kept</h3>
          <ul className="ed-conflicts">
            {conflicts.map(({ pointer, mine, theirs: other }) => (
              <li key={pointer}>
                <code>{pointer}</code> yours <code>{shown(mine)}</code>, theirs <code>{shown(other)}</code>
              </li>
            ))}
          </ul>
        </section>
      )}
    </Dialog>
  );
}

function shown(value: Json | undefined): string {
  const text = value === undefined ? "removed" : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
