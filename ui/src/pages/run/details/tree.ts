/** The steps of a run as rows of a tree: what holds what, how deep, and what is folded away. */

import type { Node } from "../../../api/types";
import { childrenOf } from "../graph/model";

export interface TreeRow {
  node: Node;
  /** From 1. */
  level: number;
  /** How many are directly inside. */
  inside: number;
  open: boolean;
}

/** Of what is not folded, in order, each with what it holds right after it. */
export function rowsOf(nodes: readonly Node[], folded: ReadonlySet<string>): TreeRow[] {
  const children = childrenOf(nodes);
  const rows: TreeRow[] = [];
  const add = (parent: string | undefined, level: number) => {
    for (const node of children.get(parent) ?? []) {
      const inside = children.get(node.id)?.length ?? 0;
      const open = inside > 0 && !folded.has(node.id);
      rows.push({ node, level, inside, open });
      if (open) add(node.id, level + 1);
    }
  };
  add(undefined, 1);
  return rows;
}

/** `state.statement.blocks.Continue` as people read it. */
export function stateText(state: string | undefined): string {
  return state?.replace(/^state\./, "") ?? "";
}

/** The iterations in which a step was created and ended. */
export function iterationText({ created_in: from = 0, ended_in: to = 0 }: { created_in?: number; ended_in?: number }) {
  if (from === 0) return "";
  if (to === 0) return `${from} –`;
  return from === to ? `${from}` : `${from} – ${to}`;
}
