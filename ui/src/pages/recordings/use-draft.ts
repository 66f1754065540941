/** The draft of a recording for some choices; asked for again whenever something was recorded or decided. */

import { useEffect, useState } from "react";
import { type ApiProblem, api } from "../../api/client";
import { asProblem } from "../../api/use-resource";
import { type Choices, type Draft, stillThere } from "./draft";

export interface Drafting {
  draft: Draft | undefined;
  problem: ApiProblem | undefined;
}

export function useDraft(id: string, choices: Choices, seq: number | undefined): Drafting {
  const [found, setFound] = useState<Drafting>({ draft: undefined, problem: undefined });
  const { draft } = found;
  const options = JSON.stringify(draft ? stillThere(choices, draft) : choices);
  useEffect(() => {
    if (seq === undefined) return;
    let current = true;
    api.post<{ plan: Draft }>("/plan", { dialect: "refs", from_run: id, options: JSON.parse(options) }).then(
      ({ plan }) => current && setFound({ draft: plan, problem: undefined }),
      (thrown: unknown) => current && setFound((old) => ({ ...old, problem: asProblem(thrown) })),
    );
    return () => {
      current = false;
    };
  }, [id, options, seq]);
  return found;
}
