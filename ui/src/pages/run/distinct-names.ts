/** Names that tell siblings apart: in a loop every turn has the same labels, but not the same ids. */

interface Named {
  id: string;
  label: string;
  parent?: string;
  /** Where it is, in words. */
  path?: string;
}

export function distinctNames(nodes: readonly Named[]): Map<string, string> {
  const seen = new Map<string, number>();
  const key = (node: Named) => `${node.parent ?? ""}\n${node.label}`;
  for (const node of nodes) seen.set(key(node), (seen.get(key(node)) ?? 0) + 1);
  const scopes = new Map(nodes.map((node) => [node.id, node]));
  return new Map(
    nodes.map((node) => {
      const scope = node.parent === undefined ? undefined : scopes.get(node.parent);
      return [node.id, (seen.get(key(node)) ?? 0) > 1 ? within(node, scope) : node.label];
    }),
  );
}

/** The whole place of a node, for where it stands alone: "items / loop 2 / ship". */
export function placeOf({ id, label, path }: Named): string {
  return path || label || id;
}

/** The place without the part that the scope around it has already: "loop 2 / ship". */
function within(node: Named, scope: Named | undefined): string {
  const { id, parent, path } = node;
  if (path) {
    const around = scope && `${placeOf(scope)} / `;
    return around && path.startsWith(around) ? path.slice(around.length) : path;
  }
  return parent !== undefined && id.startsWith(`${parent}/`) ? id.slice(parent.length + 1) : id;
}
