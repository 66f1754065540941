/** The dead letters that the page lists, in steps. */

import { useRef, useState } from "react";
import { withQuery } from "../../api/namespace";
import type { DeadLetterPage } from "../../api/types";
import { useResource } from "../../api/use-resource";

const STEP = 100;
const MOST = 500;

export function useLetters(status: "pending" | "all", run: string | undefined) {
  const [limit, setLimit] = useState(STEP);
  const found = useResource<DeadLetterPage>(withQuery("/dlq", { status, run, limit }));
  const scope = `${status} ${run}`;
  const last = useRef<{ scope: string; data: DeadLetterPage }>(undefined);
  if (found.data) last.current = { scope, data: found.data };
  // A longer page replaces the shorter one when it is there.
  const data = found.data ?? (last.current?.scope === scope ? last.current.data : undefined);
  const beyond = data?.next !== undefined;
  const more = beyond && limit < MOST ? () => setLimit(limit + STEP) : undefined;
  return { ...found, data, more, cut: beyond && limit >= MOST };
}
