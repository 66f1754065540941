/** What became of a time: a word in its colour. */

import type { Fire } from "../../api/types";

/** Times that are counted when they were missed. */
const COUNTED = 100;

export function FireOutcome({ fire }: { fire: Fire }) {
  const count = fire.count ?? 1;
  const several = count > COUNTED ? ` more than ${COUNTED}×` : count > 1 ? ` ${count}×` : "";
  return (
    <span className={`fire ${fire.outcome}`}>
      {fire.outcome}
      {several}
    </span>
  );
}
