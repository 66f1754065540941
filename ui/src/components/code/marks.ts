/** Stretches of a line that are marked: what runs, what was chosen, what is wrong. */

import type { Token } from "./tokens";

export interface Mark {
  /** From 0. */
  line: number;
  /** In units of the text, from 0; the end is behind the last one. */
  from: number;
  to: number;
  /** A class for its look. */
  look: string;
}

export interface Piece extends Token {
  look: string | undefined;
}

/** The tokens of a line, cut where marks begin and end. Where marks overlap, the last one counts. */
export function pieces(tokens: readonly Token[], marks: readonly Mark[]): Piece[] {
  const found: Piece[] = [];
  let at = 0;
  for (const { kind, text } of tokens) {
    const end = at + text.length;
    const cuts = [at, end, ...marks.flatMap(({ from, to }) => [from, to])].filter((cut) => cut >= at && cut <= end);
    const ordered = [...new Set(cuts)].sort((a, b) => a - b);
    ordered.slice(1).forEach((to, index) => {
      const from = ordered[index] ?? at;
      const mark = marks.findLast((one) => one.from <= from && to <= one.to);
      found.push({ kind, text: text.slice(from - at, to - at), look: mark?.look });
    });
    at = end;
  }
  return found;
}

/** A column that counts characters, from 1, in units of the text, from 0. */
export function unitOf(line: string, column: number): number {
  let units = 0;
  let left = column - 1;
  for (const character of line) {
    if (left-- <= 0) return units;
    units += character.length;
  }
  return units;
}
