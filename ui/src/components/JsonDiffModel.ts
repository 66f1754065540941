/**
 * The difference of two JSON values as a tree: what was added, removed and changed, and where.
 *
 * Each part of both values is hashed once, from the leaves up, so that equal parts are found without comparing them
 * again at every level; items of lists are aligned by those hashes, so that one item put in front does not make the
 * whole list look changed.
 */

import { align } from "./TextDiffModel";

export type Change = "same" | "added" | "removed" | "changed" | "inside";

/** `inside`: both are lists or both are objects, and the differences are in `children`. */
export interface DiffNode {
  key: string;
  pointer: string;
  change: Change;
  a?: unknown;
  b?: unknown;
  /** Where a list item was, when that is not where it is now. */
  from?: string;
  list?: boolean;
  children?: DiffNode[];
  count: { added: number; removed: number; changed: number };
}

export function diff(a: unknown, b: unknown): DiffNode {
  return new Differ().compare("", "", a, b);
}

type Bag = Record<string, unknown>;

function isBag(value: unknown): value is Bag {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const NONE = { added: 0, removed: 0, changed: 0 };

class Differ {
  private readonly hashes = new WeakMap<object, string>();

  compare(key: string, pointer: string, a: unknown, b: unknown): DiffNode {
    if (this.same(a, b)) return { key, pointer, change: "same", a, b, count: NONE };
    if (Array.isArray(a) && Array.isArray(b)) {
      return inside({ key, pointer, a, b, list: true }, this.items(pointer, a, b));
    }
    if (isBag(a) && isBag(b)) return inside({ key, pointer, a, b, list: false }, this.properties(pointer, a, b));
    return { key, pointer, change: "changed", a, b, count: { ...NONE, changed: 1 } };
  }

  private properties(pointer: string, a: Bag, b: Bag): DiffNode[] {
    const keys = [...Object.keys(a), ...Object.keys(b).filter((key) => !Object.hasOwn(a, key))];
    return keys.map((key) => {
      const place = `${pointer}/${escapePointer(key)}`;
      if (!Object.hasOwn(b, key)) return removed(key, place, a[key]);
      if (!Object.hasOwn(a, key)) return added(key, place, b[key]);
      return this.compare(key, place, a[key], b[key]);
    });
  }

  private items(pointer: string, a: unknown[], b: unknown[]): DiffNode[] {
    const steps = align(
      a.map((item) => this.hash(item)),
      b.map((item) => this.hash(item)),
    );
    const out: DiffNode[] = [];
    let gone: number[] = [];
    let come: number[] = [];
    const flush = (): void => {
      for (let k = 0; k < Math.max(gone.length, come.length); k++) {
        const [i, j] = [gone[k], come[k]];
        if (i !== undefined && j !== undefined) out.push(this.item(pointer, a, b, i, j));
        else if (i !== undefined) out.push(removed(String(i), `${pointer}/${i}`, a[i]));
        else if (j !== undefined) out.push(added(String(j), `${pointer}/${j}`, b[j]));
      }
      [gone, come] = [[], []];
    };
    for (const step of steps) {
      if (step.kind === "removed") gone.push(step.a);
      else if (step.kind === "added") come.push(step.b);
      else {
        flush();
        out.push(this.item(pointer, a, b, step.a, step.b));
      }
    }
    flush();
    return out;
  }

  private item(pointer: string, a: unknown[], b: unknown[], i: number, j: number): DiffNode {
    const node = this.compare(String(j), `${pointer}/${j}`, a[i], b[j]);
    return i === j ? node : { ...node, from: String(i) };
  }

  /** Equal hashes are checked: a collision must not hide a difference. */
  private same(a: unknown, b: unknown): boolean {
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
    return this.hash(a) === this.hash(b) && equal(a, b);
  }

  private hash(value: unknown): string {
    if (typeof value !== "object" || value === null) return `${typeof value}:${String(value)}`;
    const known = this.hashes.get(value);
    if (known !== undefined) return known;
    const parts = Array.isArray(value)
      ? value.map((item) => this.hash(item))
      : Object.keys(value)
          .sort()
          .map((key) => `${JSON.stringify(key)}=${this.hash((value as Bag)[key])}`);
    const made = digest(`${Array.isArray(value) ? "[" : "{"}${parts.join("\u0000")}`);
    this.hashes.set(value, made);
    return made;
  }
}

/** Two rounds of FNV-1a with different primes: short and quick; not a secret. */
function digest(text: string): string {
  let [h, g] = [0x811c9dc5, 0x1b873593];
  for (let k = 0; k < text.length; k++) {
    const code = text.charCodeAt(k);
    h = Math.imul(h ^ code, 0x01000193);
    g = Math.imul(g ^ code, 0x85ebca6b);
    g ^= g >>> 13;
  }
  return `#${(h >>> 0).toString(36)}.${(g >>> 0).toString(36)}.${text.length}`;
}

export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equal(item, b[index]));
  }
  if (!isBag(a) || !isBag(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]));
}

function added(key: string, pointer: string, b: unknown): DiffNode {
  return { key, pointer, change: "added", b, count: { ...NONE, added: 1 } };
}

function removed(key: string, pointer: string, a: unknown): DiffNode {
  return { key, pointer, change: "removed", a, count: { ...NONE, removed: 1 } };
}

function inside(node: Omit<DiffNode, "change" | "children" | "count">, children: DiffNode[]): DiffNode {
  const count = { ...NONE };
  for (const child of children) {
    count.added += child.count.added;
    count.removed += child.count.removed;
    count.changed += child.count.changed;
  }
  // Items that only moved within their list by others coming or going are the same; the list itself is not.
  return { ...node, change: "inside", children, count };
}

/** One step of a JSON pointer (RFC 6901). */
export function escapePointer(key: string | number): string {
  return String(key).replaceAll("~", "~0").replaceAll("/", "~1");
}

export function unescapePointer(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

export interface FlatChange {
  path: string;
  kind: "added" | "removed" | "changed";
  a?: unknown;
  b?: unknown;
}

/** The changes alone, by JSON pointer, in the order of the tree. */
export function changesOf(node: DiffNode): FlatChange[] {
  if (node.change === "same") return [];
  if (node.change === "inside") return (node.children ?? []).flatMap(changesOf);
  return [
    {
      path: node.pointer,
      kind: node.change,
      ...(node.change === "added" ? {} : { a: node.a }),
      ...(node.change === "removed" ? {} : { b: node.b }),
    },
  ];
}

/** Children as they are shown: changes, and stretches of unchanged ones to fold. */
export type Group = { kind: "node"; node: DiffNode } | { kind: "fold"; nodes: DiffNode[] };

export function groupsOf(children: DiffNode[]): Group[] {
  const out: Group[] = [];
  for (const node of children) {
    const last = out.at(-1);
    if (node.change !== "same") out.push({ kind: "node", node });
    else if (last?.kind === "fold") last.nodes.push(node);
    else out.push({ kind: "fold", nodes: [node] });
  }
  return out;
}

export function summaryOf({ count }: DiffNode): string {
  const words = [
    count.changed > 0 ? `${count.changed} changed` : "",
    count.added > 0 ? `${count.added} added` : "",
    count.removed > 0 ? `${count.removed} removed` : "",
  ].filter(Boolean);
  return words.length > 0 ? words.join(", ") : "no difference";
}
