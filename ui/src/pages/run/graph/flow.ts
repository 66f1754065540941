/** The laid-out picture as what the canvas takes. Objects stay the same while what they show does. */

import type { Node } from "../../../api/types";
import { idleOf } from "../active-time";
import { distinctNames } from "../distinct-names";
import type { Box, Layout } from "./layout";
import type { GraphView } from "./model";
import type { CardData, CardNode } from "./NodeCard";
import type { NodeRenderer } from "./node-renderer";

export interface FlowInput {
  view: GraphView;
  layout: Layout;
  selected: string | undefined;
  insides: ReadonlyMap<string, { [status: string]: number }>;
  onFold: (id: string) => void;
  look: NodeRenderer;
}

export function flowNodes(
  { view, layout, selected, insides, onFold, look }: FlowInput,
  before: readonly CardNode[],
): CardNode[] {
  const old = new Map(before.map((node) => [node.id, node]));
  const names = distinctNames(view.nodes);
  const nodes: CardNode[] = [];
  for (const node of view.nodes) {
    const box = layout.boxes.get(node.id);
    if (!box) continue;
    const inside = insides.get(node.id);
    const name = names.get(node.id) ?? node.label;
    const data: CardData = {
      node,
      name,
      idle: idleOf(node, view.pauses),
      inside,
      onFold: inside ? onFold : undefined,
      badge: view.badges?.get(node.id),
    };
    const next = flowNode(node, box, data, node.id === selected, look);
    const same = old.get(node.id);
    nodes.push(same && looksSame(same, next, look) ? same : next);
  }
  // Scopes first: what is inside must lie above them.
  return nodes.sort((a, b) => (a.zIndex ?? 0) - (b.zIndex ?? 0));
}

function flowNode(node: Node, box: Box, data: CardData, selected: boolean, look: NodeRenderer): CardNode {
  return {
    id: node.id,
    type: box.scope ? "scope" : "card",
    position: { x: box.x, y: box.y },
    width: box.width,
    height: box.height,
    // The size is known: nothing has to be measured before it is shown.
    measured: { width: box.width, height: box.height },
    // None: edges are drawn apart. But said, as the canvas draws all nodes at first whose ends it would have to find.
    handles: [],
    data,
    selected,
    zIndex: box.depth * 2,
    ariaLabel: look.spoken(node),
  };
}

function looksSame(a: CardNode, b: CardNode, look: NodeRenderer): boolean {
  return (
    a.selected === b.selected &&
    a.zIndex === b.zIndex &&
    a.type === b.type &&
    sameBox(a, b) &&
    drawn(a, look) === drawn(b, look)
  );
}

function sameBox(a: CardNode, b: CardNode): boolean {
  return a.position.x === b.position.x && a.position.y === b.position.y && a.width === b.width && a.height === b.height;
}

function drawn({ data }: CardNode, look: NodeRenderer): string {
  return JSON.stringify([data.name, data.idle, look.drawn(data.node), data.inside, data.badge]);
}
