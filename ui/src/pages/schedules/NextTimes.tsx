/** The next times of a schedule, in its zone. */

import { Ago } from "../../components/Time";
import { inZone } from "./schedule";

export function NextTimes({ times, zone }: { times: number[]; zone: string }) {
  return (
    <ol className="next-times">
      {times.map((at) => (
        <li key={at}>
          <span className="mono">{inZone(at, zone)}</span>
          <span className="muted">
            <Ago at={at} />
          </span>
        </li>
      ))}
    </ol>
  );
}
