/** Tasks that used up their attempts: to be tried again or given up. */

import { useState } from "react";
import { api } from "../../api/client";
import type { DeadLetter } from "../../api/types";
import { Button } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { Loading } from "../../shell/fallbacks";
import { allows, useMe } from "../../shell/me";
import { Page } from "../../shell/page";
import { Link, useQuery } from "../../shell/router";
import { toast } from "../../shell/toasts";
import { usePoll } from "../../shell/use-poll";
import { DeadLetterCard } from "./DeadLetterCard";
import { type Resolution, ResolveDialog, resolvePath } from "./ResolveDialog";
import { useLetters } from "./use-letters";
import "./dead-letters.css";

const EVERY = 5000;
const FILTERS = [
  ["pending", "Pending"],
  ["all", "All"],
] as const;

export default function DeadLetters() {
  const [query, setQuery] = useQuery();
  const status = query.get("status") === "all" ? "all" : "pending";
  const run = query.get("run") ?? undefined;
  const { data, error, reload, more, cut } = useLetters(status, run);
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
      {run !== undefined && (
        <p>
          Of run{" "}
          <Link className="text" to={`/runs/${encodeURIComponent(run)}`}>
            {run}
          </Link>{" "}
          only.{" "}
          <Link className="text" to="/dlq">
            Show all
          </Link>
        </p>
      )}
      {error && (
        <ErrorBox error={error}>
          <Button onClick={reload}>Try again</Button>
        </ErrorBox>
      )}
      {!data && !error && <Loading what="Loading dead letters" />}
      {data && <Letters letters={data.dead_letters} status={status} reload={reload} />}
      {more && <Button onClick={more}>Show more</Button>}
      {cut && <p className="muted">Only the oldest {data?.dead_letters.length} are shown.</p>}
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
  const [asked, setAsked] = useState<{ letter: DeadLetter; resolution: Resolution }>();
  const resolve = async (letter: DeadLetter, resolution: Resolution) => {
    await api.post(resolvePath(letter.id, resolution), {}, { namespace: letter.namespace });
    toast({
      kind: "ok",
      text: `${resolution === "retry" ? "Retry started" : "Discarded"}: ${letter.label || letter.node}`,
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
            <DeadLetterCard letter={letter} may={may} onResolve={(resolution) => setAsked({ letter, resolution })} />
          </li>
        ))}
      </ul>
      {asked && <ResolveDialog {...asked} onClose={() => setAsked(undefined)} resolve={resolve} reload={reload} />}
    </>
  );
}
