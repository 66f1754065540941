/** Names that tell siblings apart: in a loop every turn has the same labels, but not the same ids. */

interface Named {
  id: string;
  label: string;
  parent?: string;
}

export function distinctNames(nodes: readonly Named[]): Map<string, string> {
  const seen = new Map<string, number>();
  const key = (node: Named) => `${node.parent ?? ""}\n${node.label}`;
  for (const node of nodes) seen.set(key(node), (seen.get(key(node)) ?? 0) + 1);
  return new Map(nodes.map((node) => [node.id, (seen.get(key(node)) ?? 0) > 1 ? within(node) : node.label]));
}

/** The id without the part that the scope around it has already. */
function within({ id, parent, label }: Named): string {
  if (parent === undefined) return id || label;
  return id.startsWith(`${parent}/`) ? id.slice(parent.length + 1) : id;
}
