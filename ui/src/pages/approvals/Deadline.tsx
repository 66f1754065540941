import { absolute, span } from "../../components/format";
import { Icon } from "../../components/Icon";
import { useNow } from "../../components/Time";

const SOON = 15 * 60_000;

/** Counts down to the moment when an approval expires. */
export function Deadline({ at }: { at: number }) {
  const left = at - useNow();
  const words = left <= 0 ? "deadline passed" : `${span(Math.ceil(left / 1000) * 1000)} left`;
  return (
    <span className={left < SOON ? "deadline soon" : "deadline"} title={`until ${absolute(at)}`}>
      <Icon name="clock" size={14} />
      {words}
    </span>
  );
}
