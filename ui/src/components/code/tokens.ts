/** Source text as coloured pieces, line by line, for the languages that are known here. Others are plain. */

import { aflTokens } from "./afl";

export type Kind = "comment" | "doc" | "string" | "number" | "keyword" | "type" | "call" | "name" | "script" | "plain";

export interface Token {
  kind: Kind;
  text: string;
}

const languages: { [name: string]: (text: string) => Token[] } = { afl: aflTokens };

/** One list of tokens for each line; together they are the text. */
export function linesOf(text: string, language: string | undefined): Token[][] {
  const tokens = language !== undefined && languages[language];
  return split(tokens ? tokens(text) : [{ kind: "plain", text }]);
}

function split(tokens: readonly Token[]): Token[][] {
  const lines: Token[][] = [[]];
  for (const { kind, text } of tokens) {
    text.split("\n").forEach((part, index) => {
      if (index > 0) lines.push([]);
      if (part !== "") lines.at(-1)?.push({ kind, text: part });
    });
  }
  return lines;
}
