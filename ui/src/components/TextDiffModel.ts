/**
 * The difference of two sequences of lines, and how it is laid out.
 *
 * `align` finds which items stay: common ends first, then the lines that occur exactly once in both (patience), then
 * Myers' shortest edit between those anchors. Where two texts have almost nothing in common Myers would cost the square
 * of their length, so it gives up past a bound and calls the whole stretch replaced.
 */

export type Step =
  | { kind: "same"; a: number; b: number }
  | { kind: "removed"; a: number }
  | { kind: "added"; b: number };

const MOST_EDITS = 1500;

export function align(a: readonly string[], b: readonly string[]): Step[] {
  const pairs: [number, number][] = [];
  match(a, 0, a.length, b, 0, b.length, pairs);
  return stepsOf(pairs, a.length, b.length);
}

function stepsOf(pairs: [number, number][], lengthA: number, lengthB: number): Step[] {
  const out: Step[] = [];
  let [i, j] = [0, 0];
  for (const [a, b] of [...pairs, [lengthA, lengthB] as [number, number]]) {
    while (i < a) out.push({ kind: "removed", a: i++ });
    while (j < b) out.push({ kind: "added", b: j++ });
    if (a < lengthA) out.push({ kind: "same", a: i++, b: j++ });
  }
  return out;
}

type Items = readonly string[];

function match(a: Items, a0: number, a1: number, b: Items, b0: number, b1: number, out: [number, number][]): void {
  while (a0 < a1 && b0 < b1 && a[a0] === b[b0]) out.push([a0++, b0++]);
  const tail: [number, number][] = [];
  while (a0 < a1 && b0 < b1 && a[a1 - 1] === b[b1 - 1]) tail.push([--a1, --b1]);
  if (a0 < a1 && b0 < b1) {
    const anchors = uniqueAnchors(a, a0, a1, b, b0, b1);
    if (anchors.length === 0) myers(a, a0, a1, b, b0, b1, out);
    else {
      let [i, j] = [a0, b0];
      for (const [x, y] of anchors) {
        match(a, i, x, b, j, y, out);
        out.push([x, y]);
        [i, j] = [x + 1, y + 1];
      }
      match(a, i, a1, b, j, b1, out);
    }
  }
  for (let k = tail.length - 1; k >= 0; k--) out.push(tail[k] as [number, number]);
}

function uniqueAnchors(a: Items, a0: number, a1: number, b: Items, b0: number, b1: number): [number, number][] {
  const onceA = once(a, a0, a1);
  const onceB = once(b, b0, b1);
  const common: [number, number][] = [];
  for (const [item, x] of onceA) {
    const y = onceB.get(item);
    if (x >= 0 && y !== undefined && y >= 0) common.push([x, y]);
  }
  return rising(common);
}

/** Where each item is; -1 when it is there more than once. */
function once(items: Items, from: number, to: number): Map<string, number> {
  const out = new Map<string, number>();
  for (let k = from; k < to; k++) {
    const item = items[k] as string;
    out.set(item, out.has(item) ? -1 : k);
  }
  return out;
}

/** The longest chain of pairs that rises in both; the pairs come in rising order of the first. */
function rising(pairs: [number, number][]): [number, number][] {
  const tops: number[] = [];
  const before = new Int32Array(pairs.length).fill(-1);
  pairs.forEach(([, y], index) => {
    let [low, high] = [0, tops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[tops[middle] as number] as [number, number])[1] < y) low = middle + 1;
      else high = middle;
    }
    if (low > 0) before[index] = tops[low - 1] as number;
    tops[low] = index;
  });
  const out: [number, number][] = [];
  for (let at = tops.at(-1) ?? -1; at >= 0; at = before[at] as number) out.push(pairs[at] as [number, number]);
  return out.reverse();
}

/** Myers' greedy algorithm: `v[k]` is the furthest x on diagonal k; the history of v is walked back for the path. */
function myers(a: Items, a0: number, a1: number, b: Items, b0: number, b1: number, out: [number, number][]): void {
  const [n, m] = [a1 - a0, b1 - b0];
  const most = Math.min(n + m, MOST_EDITS);
  const v = new Int32Array(2 * most + 3);
  const history: Int32Array[] = [];
  const middle = most + 1;
  for (let d = 0; d <= most; d++) {
    history.push(v.slice(middle - d - 1, middle + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (v[middle + k - 1] as number) < (v[middle + k + 1] as number));
      let x = down ? (v[middle + k + 1] as number) : (v[middle + k - 1] as number) + 1;
      let y = x - k;
      while (x < n && y < m && a[a0 + x] === b[b0 + y]) [x, y] = [x + 1, y + 1];
      v[middle + k] = x;
      if (x >= n && y >= m) {
        out.push(...walkBack(history, n, m).map(([p, q]): [number, number] => [a0 + p, b0 + q]));
        return;
      }
    }
  }
}

function walkBack(history: Int32Array[], n: number, m: number): [number, number][] {
  const out: [number, number][] = [];
  let [x, y] = [n, m];
  for (let d = history.length - 1; d > 0; d--) {
    const v = history[d] as Int32Array;
    const at = (k: number): number => v[k + d + 1] as number;
    const k = x - y;
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const fromK = down ? k + 1 : k - 1;
    const fromX = at(fromK);
    const fromY = fromX - fromK;
    const startX = down ? fromX : fromX + 1;
    while (x > startX) out.push([--x, --y]);
    [x, y] = [fromX, fromY];
  }
  while (x > 0 && y > 0) out.push([--x, --y]);
  return out.reverse();
}

export interface Line {
  number: number;
  text: string;
}

/** One row side by side: equal, only left, only right, or a line that became another. */
export type Row =
  | { kind: "same"; a: Line; b: Line }
  | { kind: "removed"; a: Line; b?: undefined }
  | { kind: "added"; a?: undefined; b: Line }
  | { kind: "changed"; a: Line; b: Line };

export function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

export function rowsOf(textA: string, textB: string): Row[] {
  const [a, b] = [linesOf(textA), linesOf(textB)];
  const lineA = (index: number): Line => ({ number: index + 1, text: a[index] ?? "" });
  const lineB = (index: number): Line => ({ number: index + 1, text: b[index] ?? "" });
  const out: Row[] = [];
  let removed: Line[] = [];
  let added: Line[] = [];
  const flush = (): void => {
    out.push(...paired(removed, added));
    [removed, added] = [[], []];
  };
  for (const step of align(a, b)) {
    if (step.kind === "removed") removed.push(lineA(step.a));
    else if (step.kind === "added") added.push(lineB(step.b));
    else {
      flush();
      out.push({ kind: "same", a: lineA(step.a), b: lineB(step.b) });
    }
  }
  flush();
  return out;
}

/** A replaced section: its lines are shown side by side; the rest of the longer side is shown alone. */
function paired(removed: Line[], added: Line[]): Row[] {
  const out: Row[] = [];
  for (let index = 0; index < Math.max(removed.length, added.length); index++) {
    const [a, b] = [removed[index], added[index]];
    if (a && b) out.push({ kind: "changed", a, b });
    else if (a) out.push({ kind: "removed", a });
    else if (b) out.push({ kind: "added", b });
  }
  return out;
}

/** Stretches of rows: shown, or unchanged and folded because no change is near. */
export interface Stretch {
  folded: boolean;
  rows: Row[];
}

export function stretches(rows: Row[], context = 3): Stretch[] {
  const near = new Uint8Array(rows.length);
  rows.forEach((row, index) => {
    if (row.kind === "same") return;
    near.fill(1, Math.max(0, index - context), Math.min(rows.length, index + context + 1));
  });
  const out: Stretch[] = [];
  rows.forEach((row, index) => {
    const folded = near[index] === 0;
    const last = out.at(-1);
    if (last && last.folded === folded) last.rows.push(row);
    else out.push({ folded, rows: [row] });
  });
  // Folding a line or two costs a row itself.
  return out.map((stretch) => (stretch.rows.length <= 2 ? { ...stretch, folded: false } : stretch));
}

export interface Piece {
  text: string;
  changed: boolean;
}

const LONGEST_LINE = 2000;
const ALIKE = 0.4;

/**
 * Which words of a changed line differ: pieces of the old line and of the new one. Two lines that have little in common
 * are two lines, and marks all over them would only be noise.
 */
export function wordsOf(a: string, b: string): { a: Piece[]; b: Piece[] } {
  const whole = { a: [{ text: a, changed: false }], b: [{ text: b, changed: false }] };
  if (a.length > LONGEST_LINE || b.length > LONGEST_LINE) return whole;
  const [wordsA, wordsB] = [tokens(a), tokens(b)];
  const out = { a: [] as Piece[], b: [] as Piece[] };
  for (const step of align(wordsA, wordsB)) {
    if (step.kind !== "added") put(out.a, wordsA[step.a] ?? "", step.kind === "removed");
    if (step.kind !== "removed") put(out.b, wordsB[step.b] ?? "", step.kind === "added");
  }
  const common = out.a.reduce((sum, { text, changed }) => sum + (changed ? 0 : text.trim().length), 0);
  return common < ALIKE * Math.max(a.trim().length, b.trim().length) ? whole : out;
}

function tokens(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

function put(pieces: Piece[], text: string, changed: boolean): void {
  const last = pieces.at(-1);
  if (last && last.changed === changed) last.text += text;
  else pieces.push({ text, changed });
}
