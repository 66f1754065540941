/** The way of an edge from one box to another. */

import type { Box, Line, Point } from "./layout";

export interface EdgePath {
  path: string;
  /** Where a label stands. */
  middle: Point;
}

type Ends = Pick<Box, "x" | "y" | "width" | "height">;

const OUT = 12;
const ROUND = 8;
/** How far beside the boxes a way back runs. */
const ASIDE = 24;
/** Room for the arrow's tip. */
const TIP = 2;

export function edgePath(
  from: Ends,
  to: Ends,
  across: boolean,
  { bend, via = [] }: Pick<Line, "bend" | "via"> = {},
): EdgePath {
  if (bend !== undefined) return bent(from, to, bend);
  if (across ? to.x + to.width < from.x : to.y + to.height < from.y) return backward(from, to, across);
  if (from === to) return backward(from, to, across);
  const start = across
    ? { x: from.x + from.width, y: from.y + from.height / 2 }
    : { x: from.x + from.width / 2, y: from.y + from.height };
  const end = across ? { x: to.x - TIP, y: to.y + to.height / 2 } : { x: to.x + to.width / 2, y: to.y - TIP };
  return curved([start, ...via, end], across);
}

/** From point to point, leaving and entering each in the direction of the layers. */
function curved(points: readonly Point[], across: boolean): EdgePath {
  const parts: string[] = [];
  for (const [index, here] of points.entries()) {
    const before = points[index - 1];
    if (!before) {
      parts.push(`M${here.x},${here.y}`);
      continue;
    }
    const pull = Math.max(Math.abs(across ? here.x - before.x : here.y - before.y) / 2, points.length > 2 ? 0 : 16);
    const [a, b] = across
      ? [`${before.x + pull},${before.y}`, `${here.x - pull},${here.y}`]
      : [`${before.x},${before.y + pull}`, `${here.x},${here.y - pull}`];
    parts.push(`C${a} ${b} ${here.x},${here.y}`);
  }
  return { path: parts.join(" "), middle: between(points) };
}

/** Against the layers: out at the side, along beside both, and in again. */
function backward(from: Ends, to: Ends, across: boolean): EdgePath {
  if (across) {
    const low = Math.max(from.y + from.height, to.y + to.height) + ASIDE;
    const [x1, x2] = [from.x + from.width / 2 + OUT, to.x + to.width / 2 - OUT];
    const [y1, y2] = [from.y + from.height, to.y + to.height + TIP];
    const path = `M${x1},${y1} V${low - ROUND} q0,${ROUND} ${-ROUND},${ROUND} H${x2 + ROUND} q${-ROUND},0 ${-ROUND},${-ROUND} V${y2}`;
    return { path, middle: { x: (x1 + x2) / 2, y: low } };
  }
  const right = Math.max(from.x + from.width, to.x + to.width) + ASIDE;
  const [y1, y2] = [from.y + from.height / 2 + ROUND, to.y + to.height / 2 - ROUND];
  const [x1, x2] = [from.x + from.width, to.x + to.width + TIP];
  const path = `M${x1},${y1} H${right - ROUND} q${ROUND},0 ${ROUND},${-ROUND} V${y2 + ROUND} q0,${-ROUND} ${-ROUND},${-ROUND} H${x2}`;
  return { path, middle: { x: right, y: (y1 + y2) / 2 } };
}

function between(points: readonly Point[]): Point {
  const a = points[Math.ceil(points.length / 2) - 1] ?? { x: 0, y: 0 };
  const b = points[Math.floor(points.length / 2)] ?? a;
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}

/** A row that wraps to the next line: out to the right, down to the gap between the lines, back to the left, and in. */
function bent(from: Ends, to: Ends, bend: number): EdgePath {
  const [x1, y1] = [from.x + from.width, from.y + from.height / 2];
  const [x2, y2] = [to.x - TIP, to.y + to.height / 2];
  const right = x1 + OUT;
  const left = x2 - OUT;
  const path = [
    `M${x1},${y1}`,
    `H${right - ROUND}`,
    `q${ROUND},0 ${ROUND},${ROUND}`,
    `V${bend - ROUND}`,
    `q0,${ROUND} ${-ROUND},${ROUND}`,
    `H${left + ROUND}`,
    `q${-ROUND},0 ${-ROUND},${ROUND}`,
    `V${y2 - ROUND}`,
    `q0,${ROUND} ${ROUND},${ROUND}`,
    `H${x2}`,
  ].join(" ");
  return { path, middle: { x: (left + right) / 2, y: bend } };
}
