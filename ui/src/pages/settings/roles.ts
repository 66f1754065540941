import type { Role } from "../../api/types";

export const ROLES: Role[] = ["viewer", "operator", "editor", "approver", "worker", "admin"];

/** What each role may do, in a few words. */
export const ROLE_WORDS: { [role in Role]: string } = {
  viewer: "looks",
  operator: "looks, starts and steers runs",
  editor: "what an operator may, and changes definitions",
  approver: "looks and decides approvals",
  worker: "takes tasks of queues",
  admin: "may do everything",
};
