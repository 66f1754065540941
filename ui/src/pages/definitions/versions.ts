/** Definitions in words, and where they are. */

import type { Definition, Json, Version } from "../../api/types";

export function definitionPath(name: string): string {
  return `/definitions/${encodeURIComponent(name)}`;
}

export function firstLine(doc: string): string {
  return doc.trim().split("\n", 1)[0] ?? "";
}

export function matches({ name, dialect, doc, tags }: Definition, q: string): boolean {
  const text = [name, dialect, doc ?? "", ...Object.keys(tags ?? {})].join("\n").toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Newest first; of those that came at once, the last first. */
export function versionsOf({ versions }: Definition): Version[] {
  return [...(versions ?? [])].reverse().sort((a, b) => b.created_at - a.created_at);
}

/** What a version is asked for by: its label where that is its own, else its hash. */
export function versionKey(version: Version, all: Version[]): string {
  return all.filter((other) => other.version === version.version).length > 1 ? version.hash : version.version;
}

/**
 * What a run is started with when nobody says which: a version without a label goes by the plain name (""); where all
 * that is loaded has labels, one must be given, and the newest is the one.
 */
export function usualReference(definition: Definition): string {
  const loaded = versionsOf(definition).filter((version) => version.loaded);
  const plain = loaded.some(({ version, hash }) => version === hash);
  return plain ? "" : (loaded[0]?.version ?? "");
}

export function tagsOf(definition: Definition, version: Version): string[] {
  return Object.entries(definition.tags ?? {})
    .filter(([, at]) => at === version.version || at === version.hash)
    .map(([tag]) => tag);
}

/** A definition kept as JSON is compared as JSON. */
export function asJson(source: string): Json | undefined {
  if (!/^\s*[[{]/.test(source)) return undefined;
  try {
    return JSON.parse(source) as Json;
  } catch {
    return undefined;
  }
}
