/** What the server says of a document, asked again a moment after each change. */

import { useEffect, useState } from "react";
import { api } from "../../api/client";
import type { Json, Plan } from "../../api/types";
import { asProblem } from "../../api/use-resource";
import { isObject } from "../../components/SchemaFormModel";
import type { Problem } from "./problems";

/** Long enough not to ask for each letter. */
const PAUSE_MS = 300;

export interface Checked {
  problems: Problem[];
  /** Whether they are those of the document as it is now. */
  current: boolean;
}

/** `begun`: an empty document that nobody has touched has no faults yet. */
export function useCheck(dialect: string, value: Json, begun: boolean): Checked {
  const [found, setFound] = useState<{ of: Json; problems: Problem[] }>();
  useEffect(() => {
    if (!begun) return;
    const abort = new AbortController();
    const timer = window.setTimeout(() => {
      check(dialect, value, abort.signal)
        .then((problems) => setFound({ of: value, problems }))
        .catch((error: unknown) => {
          if (!abort.signal.aborted) setFound({ of: value, problems: [whole(asProblem(error).message)] });
        });
    }, PAUSE_MS);
    return () => {
      window.clearTimeout(timer);
      abort.abort();
    };
  }, [dialect, value, begun]);
  if (!begun) return { problems: [], current: true };
  return { problems: found?.problems ?? [], current: found?.of === value };
}

async function check(dialect: string, definition: Json, signal: AbortSignal): Promise<Problem[]> {
  if (!isObject(definition)) return [whole("It must be a JSON object.")];
  try {
    const { notes = [] } = await api.post<Plan>("/plan", { dialect, definition: definition as Json }, { signal });
    return notes.map((message) => ({ ...whole(message), warning: true }));
  } catch (thrown) {
    const { errors } = asProblem(thrown).problem;
    if (!errors || errors.length === 0) throw thrown;
    return errors;
  }
}

function whole(message: string): Problem {
  return { pointer: "", message };
}
