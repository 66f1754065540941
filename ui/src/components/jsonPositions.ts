/** Where things stand in a JSON text: problems that name a pointer are shown at their line. */

import { escapePointer } from "./JsonDiffModel";

export interface Broken {
  offset: number;
  message: string;
}
export interface JsonPlaces {
  /** Pointer -> offset of the key, or of the value in a list. */
  at: Map<string, number>;
  /** Where the text stops being JSON. */
  broken?: Broken;
}

const DEEPEST = 200;

export function jsonPositions(text: string): JsonPlaces {
  const scan = new Scan(text);
  try {
    scan.whole();
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    return { at: scan.at, broken: { offset: scan.offset, message: error.message } };
  }
  return { at: scan.at };
}

/** The offset of what a pointer names, or of the nearest thing around it. */
export function placeOf(places: JsonPlaces, pointer: string): number {
  for (let path = pointer; path !== ""; path = path.slice(0, path.lastIndexOf("/"))) {
    const found = places.at.get(path);
    if (found !== undefined) return found;
  }
  return places.at.get("") ?? 0;
}

/** From 0. */
export function lineAt(text: string, offset: number): number {
  let line = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

class Stop extends Error {}

const SPACE = /[ \t\n\r]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what JSON forbids
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

class Scan {
  offset = 0;
  readonly at = new Map<string, number>();
  constructor(private readonly text: string) {}

  whole() {
    this.skip();
    this.value("", 0, this.offset);
    this.skip();
    if (this.offset < this.text.length) throw new Stop("unexpected text after the end");
  }

  private value(pointer: string, depth: number, place: number) {
    this.at.set(pointer, place);
    if (depth > DEEPEST) throw new Stop("nested too deeply");
    const first = this.text[this.offset];
    if (first === "{") this.members(pointer, depth);
    else if (first === "[") this.items(pointer, depth);
    else if (first === '"') this.string();
    else if (this.take(WORD) === undefined)
      throw new Stop(first === undefined ? "unexpected end of text" : "expected a value");
  }

  private members(pointer: string, depth: number) {
    this.list("}", () => {
      const place = this.offset;
      if (this.text[place] !== '"') throw new Stop('expected a name in quotes, such as "id"');
      const name = JSON.parse(this.string()) as string;
      this.skip();
      this.expect(":");
      this.skip();
      this.value(`${pointer}/${escapePointer(name)}`, depth + 1, place);
    });
  }

  private items(pointer: string, depth: number) {
    let index = 0;
    this.list("]", () => this.value(`${pointer}/${index++}`, depth + 1, this.offset));
  }

  /** From the opening bracket to the closing one. */
  private list(end: string, one: () => void) {
    this.offset++;
    this.skip();
    if (this.text[this.offset] === end) {
      this.offset++;
      return;
    }
    for (;;) {
      one();
      this.skip();
      if (this.text[this.offset] === end) break;
      if (this.text[this.offset] !== ",") throw new Stop(`expected a comma or ${end}`);
      this.offset++;
      this.skip();
    }
    this.offset++;
  }

  private string(): string {
    const found = this.take(STRING);
    if (found === undefined) throw new Stop("unterminated string, or a character that must be escaped");
    return found;
  }

  private expect(character: string) {
    if (this.text[this.offset] !== character) throw new Stop(`expected ${character}`);
    this.offset++;
  }

  private skip() {
    this.take(SPACE);
  }

  private take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.offset;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.offset += found.length;
    return found;
  }
}
