/** What became of a time: a word in its colour. */

import type { Fire } from "../../api/types";

export function FireOutcome({ fire }: { fire: Fire }) {
  const several = (fire.count ?? 1) > 1 ? ` ${fire.count}×` : "";
  return (
    <span className={`fire ${fire.outcome}`}>
      {fire.outcome}
      {several}
    </span>
  );
}
