/** A decision for other tools. */

import { withQuery } from "../../api/namespace";
import type { Approval, Json } from "../../api/types";
import { type CopyAction, py, sh } from "../../components/copy";

export interface Decision {
  decision: "approve" | "reject";
  comment?: string;
  data?: Json;
  /** On a server without sign-in. */
  by?: string;
}

export function decisionPath(id: string): string {
  return `/approvals/${encodeURIComponent(id)}/decide`;
}

export function decisionCopy({ id, namespace }: Approval, { decision, comment, data, by }: Decision): CopyAction {
  const elsewhere = namespace !== "default";
  const flags = [
    decision === "reject" ? " --reject" : "",
    by ? ` --by ${sh(by)}` : "",
    comment ? ` --comment ${sh(comment)}` : "",
    data === undefined ? "" : ` --data ${sh(JSON.stringify(data))}`,
    elsewhere ? ` -n ${sh(namespace)}` : "",
  ].join("");
  const named = [
    by ? `, by=${py(by)}` : "",
    comment ? `, comment=${py(comment)}` : "",
    data === undefined ? "" : `, data=${py(data)}`,
    elsewhere ? `, namespace=${py(namespace)}` : "",
  ].join("");
  return {
    method: "POST",
    path: withQuery(decisionPath(id), { namespace: elsewhere ? namespace : undefined }),
    body: { decision, by: by || undefined, comment: comment || undefined, data },
    cli: `plait approve ${sh(id)}${flags}`,
    python: `await engine.approvals.decide(${py(id)}, ${py(decision)}${named})`,
  };
}
