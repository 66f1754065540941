import type { Role } from "../../api/types";

export const ROLES: Role[] = ["viewer", "operator", "editor", "approver", "worker", "agent", "admin"];

/** What each role may do, in a few words. */
export const ROLE_WORDS: { [role in Role]: string } = {
  viewer: "looks",
  operator: "can view, start and control runs",
  editor: "can also change definitions",
  approver: "can view and decide approvals",
  worker: "can take tasks from queues",
  agent: "can do the events of facets",
  admin: "full access",
};
