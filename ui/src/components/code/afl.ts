/**
 * The words of AFL. It only colours: what is wrong still gets a colour, and nothing is ever left out. As in the
 * language, a keyword counts only where it can be one: `event: String` and `s.catch` have plain names.
 */

import type { Kind, Token } from "./tokens";

const KEYWORDS = new Set(
  (
    "namespace use uses event facet workflow schema implicit andThen foreach in when case catch script prompt system " +
    "template model with as yield sys not contains startsWith endsWith true false null"
  ).split(" "),
);
const TYPES = new Set(["String", "Long", "Int", "Double", "Boolean", "Json"]);

/** In this order: the first that matches at a place is what stands there. */
const PATTERNS: [kind: Kind | "word", pattern: RegExp][] = [
  ["doc", /\/\*\*(?!\/)[\s\S]*?(?:\*\/|$)/y],
  ["comment", /\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*/y],
  ["string", /"(?:\\[\s\S]|[^"\\])*(?:"|$)/y],
  ["number", /\d+(?:\.\d+(?:[eE][+-]?\d+)?)?/y],
  ["name", /\$/y],
  ["word", /[A-Za-z_]\w*/y],
  ["plain", /[^\w"$/]+|\//y],
];
/** What follows a name that is declared or set, and a name that is called. */
const SET = /\s*(?::|=(?![=>]))/y;
const CALLED = /\s*\(/y;
const RAW = /\s+(?:[A-Za-z_]\w*\s*)?\{|\s*\{/y;

export function aflTokens(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const { kind, end } = next(text, at);
    const found = kind === "word" ? wordKind(text, at, end) : kind;
    tokens.push({ kind: found, text: text.slice(at, end) });
    at = end;
    if (found === "keyword" && tokens.at(-1)?.text === "script") at = pushScript(tokens, text, at);
  }
  return tokens;
}

function next(text: string, at: number): { kind: Kind | "word"; end: number } {
  for (const [kind, pattern] of PATTERNS) {
    const end = matchEnd(pattern, text, at);
    if (end !== undefined) return { kind, end };
  }
  return { kind: "plain", end: at + 1 };
}

function matchEnd(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

function wordKind(text: string, at: number, end: number): Kind {
  const word = text.slice(at, end);
  const member = text[at - 1] === ".";
  const set = matchEnd(SET, text, end) !== undefined;
  if (!member && !set && KEYWORDS.has(word)) return "keyword";
  if (!member && TYPES.has(word) && !set) return "type";
  if (matchEnd(CALLED, text, end) !== undefined) return "call";
  return member || set ? "name" : "plain";
}

/** Code of another language between braces, to the brace that closes it. */
function pushScript(tokens: Token[], text: string, at: number): number {
  const start = matchEnd(RAW, text, at);
  if (start === undefined) return at;
  const end = scriptEnd(text, start);
  tokens.push({ kind: "plain", text: text.slice(at, start) }, { kind: "script", text: text.slice(start, end) });
  return end;
}

/** Braces in strings and comments of Python don't count. */
const PYTHON = /'''[\s\S]*?(?:'''|$)|"""[\s\S]*?(?:"""|$)|'(?:\\.|[^'\\\n])*'?|"(?:\\.|[^"\\\n])*"?|#[^\n]*|[{}]/g;

function scriptEnd(text: string, start: number): number {
  PYTHON.lastIndex = start;
  let depth = 1;
  for (let found = PYTHON.exec(text); found !== null; found = PYTHON.exec(text)) {
    if (found[0] === "{") depth++;
    else if (found[0] === "}" && --depth === 0) return found.index;
  }
  return text.length;
}
