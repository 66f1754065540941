/** Changes of the catalog as data: the request, and the same for other tools. */

import { withQuery } from "../../api/namespace";
import type { Json } from "../../api/types";
import { type CopyAction, py, sh } from "../../components/copy";

export type Mode = "register" | "update";

export function registering(step: Json, mode: Mode, namespace: string | undefined): CopyAction {
  const elsewhere = foreign(namespace);
  return {
    method: "POST",
    path: withQuery("/definitions", { namespace: elsewhere }),
    body: { dialect: "goals", definition: step, mode },
    cli: `plait check step.json --register${mode === "update" ? " --update" : ""}${elsewhere ? ` -n ${sh(elsewhere)}` : ""}`,
    python: `await ${catalogOf(elsewhere)}.${mode}(${py(step)})`,
  };
}

export function unregistering(id: string, namespace: string | undefined): CopyAction {
  const elsewhere = foreign(namespace);
  return {
    method: "DELETE",
    path: withQuery(`/catalog/${encodeURIComponent(id)}`, { namespace: elsewhere }),
    cli: `plait catalog rm ${sh(id)}${elsewhere ? ` -n ${sh(elsewhere)}` : ""}`,
    python: `await ${catalogOf(elsewhere)}.unregister(${py(id)})`,
  };
}

function foreign(namespace: string | undefined): string | undefined {
  return namespace === "default" ? undefined : namespace;
}

function catalogOf(elsewhere: string | undefined): string {
  return elsewhere === undefined ? "engine.catalog" : `engine.catalog.of(${py(elsewhere)})`;
}
