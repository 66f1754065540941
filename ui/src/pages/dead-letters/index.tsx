/** Tasks that used up their attempts: to be tried again or given up. */

import { useState } from "react";
import { api } from "../../api/client";
import type { DeadLetter } from "../../api/types";
import { useResource } from "../../api/use";
import { Button } from "../../parts/Button";
import { Empty } from "../../parts/Empty";
import { ErrorBox } from "../../parts/ErrorBox";
import { allows, useMe } from "../../shell/me";
import { Page } from "../../shell/page";
import { Loading } from "../../shell/plain";
import { usePoll } from "../../shell/poll";
import { useQuery } from "../../shell/router";
import { toast } from "../../shell/toasts";
import { Letter } from "./Letter";
import { Settle, settlePath, type Verdict } from "./Settle";
import "./dead-letters.css";

const EVERY = 5000;
const FILTERS = [
  ["pending", "Pending"],
  ["all", "All"],
] as const;

export default function DeadLetters() {
  const [query, setQuery] = useQuery();
  const status = query.get("status") === "all" ? "all" : "pending";
  const { data, error, reload } = useResource<{ dead_letters: DeadLetter[] }>(`/dlq?status=${status}`);
  usePoll(reload, EVERY);
  return (
    <Page
      title="Dead letters"
      actions={
        <fieldset className="segments" aria-label="Filter by status">
          {FILTERS.map(([value, words]) => (
            <button
              key={value}
              type="button"
              aria-pressed={status === value}
              onClick={() => setQuery({ status: value === "all" ? "all" : undefined })}
            >
              {words}
            </button>
          ))}
        </fieldset>
      }
    >
      <p className="muted">
        Tasks that failed on their last attempt. Retry runs a task again and lets its run continue; Discard drops it.
      </p>
      {error && (
        <ErrorBox error={error}>
          <Button onClick={reload}>Try again</Button>
        </ErrorBox>
      )}
      {!data && !error && <Loading what="Loading dead letters" />}
      {data && <Letters letters={data.dead_letters} status={status} reload={reload} />}
    </Page>
  );
}

interface LettersProps {
  letters: DeadLetter[];
  status: "pending" | "all";
  reload: () => void;
}

function Letters({ letters, status, reload }: LettersProps) {
  const may = allows(useMe(), "operator");
  const [asked, setAsked] = useState<{ letter: DeadLetter; verdict: Verdict }>();
  const settle = async (letter: DeadLetter, verdict: Verdict) => {
    await api.post(settlePath(letter.id, verdict), {}, { namespace: letter.namespace });
    toast({
      kind: "ok",
      text: `${verdict === "retry" ? "Retry started" : "Discarded"}: ${letter.label || letter.node}`,
    });
    setAsked(undefined);
    reload();
  };
  if (letters.length === 0) {
    return status === "pending" ? (
      <Empty icon="check" title="No dead letters">
        Tasks that fail on their last attempt are listed here, with everything needed to retry them.
      </Empty>
    ) : (
      <Empty icon="letters" title="No dead letters so far">
        Tasks that fail on their last attempt are listed here, including those already retried or discarded.
      </Empty>
    );
  }
  return (
    <>
      <ul className="letters">
        {letters.map((letter) => (
          <li key={letter.id}>
            <Letter letter={letter} may={may} onSettle={(verdict) => setAsked({ letter, verdict })} />
          </li>
        ))}
      </ul>
      {asked && <Settle {...asked} onClose={() => setAsked(undefined)} settle={settle} reload={reload} />}
    </>
  );
}
