/**
 * Where the labels of edges stand: in the middle, or a little below where another one stands already. Of equal labels
 * near each other one will do.
 */

import { type Layout, type Line, type Point, shortLabel } from "./layout";
import { edgePath } from "./path";

/** About half a letter's width, and a line's height. */
const HALF_LETTER = 3;
const HEIGHT = 14;
const TRIES = 4;
/** Beyond this many the looking takes longer than it is worth. */
const MANY = 600;

interface Shown extends Point {
  text: string;
  half: number;
}

export function labelPlaces({ lines, boxes, direction }: Layout): Map<Line, Point> {
  const places = new Map<Line, Point>();
  const shown: Shown[] = [];
  for (const line of lines) {
    const from = boxes.get(line.source);
    const to = boxes.get(line.target);
    if (!line.label || !from || !to) continue;
    const { middle } = edgePath(from, to, direction === "LR", line);
    const text = shortLabel(line.label);
    const at = shown.length > MANY ? middle : free({ ...middle, text, half: text.length * HALF_LETTER }, shown);
    if (!at) continue;
    shown.push({ x: at.x, y: at.y, text, half: text.length * HALF_LETTER });
    // A little above the line itself.
    places.set(line, { x: at.x, y: at.y - 4 });
  }
  return places;
}

function free(wanted: Shown, shown: readonly Shown[]): Point | undefined {
  let y = wanted.y;
  for (let tries = 0; tries < TRIES; tries++) {
    const hit = shown.find((one) => overlap({ ...wanted, y }, one));
    if (!hit) return { x: wanted.x, y };
    if (hit.text === wanted.text) return undefined;
    y += HEIGHT;
  }
  return { x: wanted.x, y: wanted.y };
}

function overlap(a: Shown, b: Shown): boolean {
  return Math.abs(a.x - b.x) < a.half + b.half + 4 && Math.abs(a.y - b.y) < HEIGHT;
}
