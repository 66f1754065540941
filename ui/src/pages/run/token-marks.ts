/** Tokens in flight on the graph of a run: at the nodes that have them, and at joins on the way they came by. */

import type { View } from "../../api/types";
import { groupBy } from "../../components/group-by";
import { detailsOf, type TokenFlow } from "./details/details";
import type { Badge, EdgeMark, GraphView } from "./graph/model";

type Token = TokenFlow["tokens"][number];

/** The same view if its run has no tokens. */
export function withTokens(view: View): GraphView {
  const { flow } = detailsOf(view);
  if (!flow || flow.tokens.length === 0) return view;
  const marks = new Map<string, EdgeMark>();
  const badges = new Map<string, Badge>();
  const parked = flow.tokens.filter((token) => token.parked);
  for (const [way, tokens] of groupBy(parked, ({ from, node }) => `${from}\n${node}`)) {
    marks.set(way, { badge: { text: String(tokens.length), title: `${counted(tokens)} parked` } });
  }
  for (const [node, tokens] of groupBy(
    flow.tokens.filter((token) => !token.parked),
    ({ node }) => node,
  )) {
    badges.set(node, { text: String(tokens.length), title: counted(tokens) });
  }
  for (const { node, has, waits_for, tokens } of flow.joins) {
    const title = `join has ${has.join(", ")}; waits for ${waits_for.join(", ")}`;
    badges.set(node, { text: `${tokens}`, title });
  }
  return { ...view, marks, badges };
}

/** "2 tokens, hops 3 and 4". */
function counted(tokens: readonly Token[]): string {
  const hops = [...new Set(tokens.map(({ hop }) => hop))].sort((a, b) => a - b);
  const noun = tokens.length === 1 ? "token" : "tokens";
  return `${tokens.length} ${noun}, ${hops.length === 1 ? "hop" : "hops"} ${hops.join(" and ")}`;
}
