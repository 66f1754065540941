/** Where a document comes from and how it is saved: a definition, a new one, or the graph of one run. */

import { ApiProblem, api } from "../../api/client";
import type { RunGraph } from "../../api/schema";
import type { Definition, DefinitionVersion, Json, RunDetail } from "../../api/types";
import { definitionPath } from "../definitions/versions";
import type { Operation } from "./json-patch";

export interface Loaded {
  value: Json;
  /** The version or revision that it is; none if it was never saved. */
  at: string | undefined;
}

export interface Saving {
  value: Json;
  base: Loaded;
  operations: Operation[];
  name: string;
  description: string;
  breaking: boolean;
}

export interface Source {
  kind: "new" | "definition" | "run";
  /** Of the definition or the run; none if it is new. */
  name: string | undefined;
  load: () => Promise<Loaded & { dialect: string }>;
  /** Throws an ApiProblem; one that is `stale` means that somebody else was faster. */
  save: (saving: Saving) => Promise<Loaded>;
}

export function newDocument(dialect: string, first: Json): Source {
  return {
    kind: "new",
    name: undefined,
    load: async () => ({ value: first, at: undefined, dialect }),
    save: async ({ value, name }) => {
      await mustBeFree(name);
      const saved = await api.post<{ version: string }>("/definitions", { dialect, name, definition: value });
      return { value, at: saved.version };
    },
  };
}

async function mustBeFree(name: string): Promise<void> {
  const { definitions } = await api.get<{ definitions: Definition[] }>("/definitions");
  if (!definitions.some((one) => one.name === name)) return;
  throw new ApiProblem({
    type: "urn:plait:error:ui.name_taken",
    title: `There is a definition ${name} already`,
    status: 409,
    detail: `There is a definition ${name} already`,
    code: "ui.name_taken",
    fix: "Choose another name, or open that definition and edit it.",
  });
}

export function definitionDocument(name: string): Source {
  const path = definitionPath(name);
  return {
    kind: "definition",
    name,
    load: async () => {
      const { version } = await api.get<Definition>(path);
      const found = await api.get<DefinitionVersion>(
        `${path}/versions/${encodeURIComponent(version)}?materialize=true`,
      );
      return { value: found.definition ?? null, at: found.version, dialect: found.dialect };
    },
    save: async ({ value, base, operations, description, breaking }) => {
      const saved = await api.post<{ version: string }>(`${path}/patch`, {
        operations,
        description: description || undefined,
        breaking: breaking || undefined,
        expected: base.at,
      });
      return { value, at: saved.version };
    },
  };
}

/** `part`: where the API has what a run of this dialect goes by, as in `/runs/x/graph`; none if it can't be changed. */
export function runDocument(id: string, part: (dialect: string) => string | undefined): Source {
  const path = `/runs/${encodeURIComponent(id)}`;
  const load = async () => {
    const { run } = await api.get<RunDetail>(path);
    const found = await api.get<RunGraph>(`${path}/${part(run.dialect) ?? "graph"}`);
    return { value: found.definition, at: String(found.revision), dialect: run.dialect };
  };
  return {
    kind: "run",
    name: id,
    load,
    save: async ({ base, operations }) => {
      await api.post(`${path}/patch`, { operations, base_revision: Number(base.at) });
      return load();
    },
  };
}

/** Somebody has saved since this was loaded. */
export function isStale({ status }: ApiProblem): boolean {
  return status === 412;
}
