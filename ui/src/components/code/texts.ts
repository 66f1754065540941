/** Definitions that hold text: which of their members are files, and what else they say. */

import type { Json } from "../../api/types";
import { isObject } from "../SchemaFormModel";

export interface TextFile {
  name: string;
  text: string;
}

export interface Texts {
  files: TextFile[];
  /** The definition without them. */
  rest: { [name: string]: Json };
}

/** What a definition's only file is called when it has no name of its own. */
const ONLY = "source";

/** None if the definition holds no text. */
export function textsOf(value: Json | undefined): Texts | undefined {
  if (!isObject(value)) return undefined;
  const { source, sources, ...rest } = value as { [name: string]: Json };
  if (typeof source === "string" && sources === undefined) return { files: [{ name: ONLY, text: source }], rest };
  if (source !== undefined || !Array.isArray(sources)) return undefined;
  const files = sources.flatMap((one) => fileOf(one as Json));
  return files.length === sources.length ? { files, rest } : undefined;
}

function fileOf(value: Json): TextFile[] {
  if (!isObject(value)) return [];
  const { name, text } = value as { [name: string]: Json };
  return typeof name === "string" && typeof text === "string" ? [{ name, text }] : [];
}

/** The definition with another text in one of its files. */
export function withText(value: Json, index: number, text: string): Json {
  if (!isObject(value)) return value;
  const found = value as { [name: string]: Json };
  if (!Array.isArray(found.sources)) return { ...found, source: text };
  const sources = found.sources.map((one, at) => (at === index && isObject(one) ? { ...one, text } : one));
  return { ...found, sources: sources as Json[] };
}
