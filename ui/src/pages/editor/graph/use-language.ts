/** What graphs may be made of: the node types of the namespace, and the schema of the language. */

import type { NodeType, NodeTypeList } from "../../../api/schema";
import type { Json } from "../../../api/types";
import { useResource } from "../../../api/use-resource";
import type { Schema } from "../../../components/SchemaFormModel";
import { partOf } from "./form-schemas";

export interface Language {
  /** The newest version of each. */
  types: NodeType[];
  /** By the name that a node has: `mailer`, `mailer@v1`. */
  typeOf: (written: string) => NodeType | undefined;
  /** A part of the language, such as `Retry`, for a graph with these nodes. */
  part: (name: string, ids: readonly string[]) => Schema;
}

const ALIASES: { [alias: string]: string } = { hitl: "human", conditional: "decision" };

export function useLanguage(): { language: Language | undefined; error: Error | undefined } {
  const types = useResource<NodeTypeList>("/node-types");
  const schema = useResource<{ $defs: { [name: string]: Json } }>("/graph-schema", { namespace: null });
  const error = types.error ?? schema.error;
  if (!types.data || !schema.data) return { language: undefined, error };
  const all = types.data.node_types;
  const defs = schema.data.$defs;
  return {
    language: {
      types: [...new Map(all.map((type) => [type.type_name, type])).values()],
      typeOf: (written) => {
        const [name = "", version] = written.split("@");
        const known = ALIASES[name] ?? name;
        return all.findLast((one) => one.type_name === known && (!version || (one.version ?? "v1") === version));
      },
      part: (name, ids) => partOf(defs, name, ids),
    },
    error,
  };
}
