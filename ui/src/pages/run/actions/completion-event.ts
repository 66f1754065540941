import type { Node } from "../../../api/types";

/**
 * The number of the event that completed a node. Event data differs by dialect, the picture does not: so the first
 * picture that shows the node completed is looked for, halving the log each time.
 */
export async function completionEvent(
  node: string,
  last: number,
  look: (at: number) => Promise<readonly Node[]>,
): Promise<number> {
  let low = 1;
  let high = last;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const done = (await look(middle)).some((one) => one.id === node && one.status === "completed");
    if (done) high = middle;
    else low = middle + 1;
  }
  return low;
}
