/** Walking over the graph with arrow keys: the nearest node in that direction. */

import type { Box } from "./layout";

export type Arrow = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

export function nearest(boxes: ReadonlyMap<string, Box>, from: string | undefined, arrow: Arrow): string | undefined {
  const start = from === undefined ? undefined : boxes.get(from);
  if (!start) return boxes.keys().next().value;
  const along = arrow === "ArrowLeft" || arrow === "ArrowRight" ? "x" : "y";
  const sign = arrow === "ArrowRight" || arrow === "ArrowDown" ? 1 : -1;
  const here = middle(start);
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const [id, box] of boxes) {
    if (id === from) continue;
    const there = middle(box);
    const ahead = (there[along] - here[along]) * sign;
    if (ahead <= 1) continue;
    const aside = Math.abs(along === "x" ? there.y - here.y : there.x - here.x);
    // What lies straight ahead is nearer than what lies aside.
    const distance = ahead + aside * 2;
    if (distance < least) {
      least = distance;
      best = id;
    }
  }
  return best;
}

function middle(box: Box): { x: number; y: number } {
  // A scope is reached at its head.
  return { x: box.x + box.width / 2, y: box.y + (box.scope ? 18 : box.height / 2) };
}
