/** How a node is drawn and spoken of. Runs and catalogs are pictures of one kind, with other cards. */

import type { NodeProps } from "@xyflow/react";
import type { ComponentType } from "react";
import type { Node } from "../../../api/types";
import { type CardNode, NodeCard } from "./NodeCard";

export interface NodeRenderer {
  card: ComponentType<NodeProps<CardNode>>;
  /** The node in words, for screen readers. */
  spoken: (node: Node) => string;
  /** All of a node that is drawn: while this is the same, so is its card. */
  drawn: (node: Node) => unknown;
}

export const runNodeRenderer: NodeRenderer = {
  card: NodeCard,
  spoken: (node) => {
    const attempts = (node.attempts ?? 0) > 1 ? `, ${node.attempts} attempts` : "";
    return `${node.label}, ${node.kind}, ${node.status}${attempts}`;
  },
  // Input and output are not drawn: that they come anew with each answer changes nothing.
  drawn: ({ kind, status, attempts, started_at, ended_at, skip_reason, child, detail }) => [
    kind,
    detail,
    status,
    attempts,
    started_at,
    ended_at,
    skip_reason,
    child,
  ],
};
