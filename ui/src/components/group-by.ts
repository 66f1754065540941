/** In groups, in the order of their first ones. (`Map.groupBy` is not yet in all that runs our tests.) */
export function groupBy<T, K>(all: readonly T[], key: (one: T) => K): Map<K, T[]> {
  const found = new Map<K, T[]>();
  for (const one of all) {
    const group = found.get(key(one));
    if (group) group.push(one);
    else found.set(key(one), [one]);
  }
  return found;
}
