/** The approvals that the page lists, and the one that is chosen, in the list or not. */

import { useRef, useState } from "react";
import type { Approval, ApprovalPage } from "../../api/types";
import { useResource } from "../../api/use-resource";
import type { Shown } from "./StatusFilter";

const STEP = 100;
const MOST = 500;

export function useApprovals(status: Shown) {
  const [limit, setLimit] = useState(STEP);
  const found = useResource<ApprovalPage>(`/approvals?status=${status}&limit=${limit}`);
  const last = useRef<{ status: Shown; data: ApprovalPage }>(undefined);
  if (found.data) last.current = { status, data: found.data };
  // A longer page replaces the shorter one when it is there.
  const data = found.data ?? (last.current?.status === status ? last.current.data : undefined);
  const more = data?.next !== undefined && limit < MOST ? () => setLimit(limit + STEP) : undefined;
  return { ...found, data, more };
}

/** The chosen one; when it leaves the list under a reader's eyes it stays, with how it was decided. */
export function useChosen(list: Approval[] | undefined, id: string | undefined) {
  const kept = useRef<Approval>(undefined);
  const listed = list?.find((approval) => approval.id === id);
  const missing = id !== undefined && list !== undefined && !listed;
  const fetched = useResource<Approval>(missing ? `/approvals/${encodeURIComponent(id)}` : undefined);
  const current = listed ?? fetched.data;
  if (current) kept.current = current;
  const approval = kept.current?.id === id ? kept.current : undefined;
  return { approval, open: current?.status === "open", loading: missing && fetched.loading };
}
