/**
 * Brings each problem to the field where a person can mend it.
 *
 * A field hands the problems below it to the fields it draws inside; what no inner field takes is shown at the field
 * itself. So a problem is always visible, also one at a place that the form doesn't draw.
 */

import { escapePointer } from "./JsonDiffModel";
import { type Problem, REQUIRED } from "./SchemaFormCheck";

export interface Split {
  own: Problem[];
  inner: Map<string, Problem[]>;
}

export function split(problems: Problem[], pointer: string, children: (string | number)[]): Split {
  const inner = new Map<string, Problem[]>();
  const own: Problem[] = [];
  const places = new Map(children.map((child) => [escapePointer(child), String(child)]));
  for (const problem of problems) {
    const step = problem.pointer.startsWith(`${pointer}/`)
      ? problem.pointer.slice(pointer.length + 1).split("/", 1)[0]
      : undefined;
    const child = step === undefined ? undefined : places.get(step);
    if (child === undefined) own.push(problem);
    else inner.set(child, [...(inner.get(child) ?? []), problem]);
  }
  return { own, inner };
}

const MISSING = /^"((?:[^"\\]|\\.)+)" is a required property/;

/** A server names the object in which something is missing; a person looks at the empty field. */
export function aimed(problem: Problem): Problem {
  const match = MISSING.exec(problem.message);
  if (!match?.[1]) return problem;
  return { pointer: `${problem.pointer}/${escapePointer(match[1])}`, message: REQUIRED };
}

/** The problems of one part of a request body, as problems of that part alone: `/input/amount` becomes `/amount`. */
export function within(problems: Problem[], part: string): { inside: Problem[]; outside: Problem[] } {
  const inside: Problem[] = [];
  const outside: Problem[] = [];
  for (const problem of problems) {
    if (problem.pointer === part || problem.pointer.startsWith(`${part}/`)) {
      inside.push({ ...problem, pointer: problem.pointer.slice(part.length) });
    } else outside.push(problem);
  }
  return { inside, outside };
}
