/** Who may decide an approval, and how far it is. */

import type { Approval, ApprovalStatus } from "../../api/types";

export const STATUS_WORDS: { [status in ApprovalStatus]: string } = {
  open: "Open",
  approved: "Approved",
  rejected: "Rejected",
  expired: "Expired",
  withdrawn: "Withdrawn",
};

/** Certain people, or several of them, must approve: it matters who votes. */
export function countsVoters({ required = 1, approvers = [] }: Approval): boolean {
  return required > 1 || approvers.length > 0;
}

/** "1 of 2", where one is not enough. */
export function progress({ required = 1, votes = [] }: Approval): string | undefined {
  if (required === 1) return undefined;
  return `${votes.filter(({ decision }) => decision === "approve").length} of ${required}`;
}

/** Why this person can't vote; undefined if they can. */
export function obstacle({ approvers = [], votes = [] }: Approval, name: string): string | undefined {
  if (votes.some(({ by }) => by === name)) return "You have voted. It stays open until enough people approve.";
  if (approvers.length > 0 && !approvers.includes(name)) return `Only ${approvers.join(", ")} can decide this.`;
  return undefined;
}

/** "Approved by ada" for one that is closed. */
export function outcome({ status, decided_by }: Approval): string {
  return decided_by ? `${STATUS_WORDS[status]} by ${decided_by}` : STATUS_WORDS[status];
}
