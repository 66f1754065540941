/** Time travel: a slider over the events. What is shown is the run as it was after the chosen one. */

import type { Event } from "../../api/types";
import { Button, IconButton } from "../../components/Button";
import { absolute, clock } from "../../components/format";
import { Icon } from "../../components/Icon";
import { useKey } from "../../shell/keys";

interface SliderProps {
  at: number | undefined;
  last: number;
  onAt: (at: number | undefined) => void;
}

export function TimeSlider({ at, last, onAt }: SliderProps) {
  const shown = at === undefined ? last : Math.min(at, last);
  const go = (to: number) => onAt(Math.min(Math.max(to, 1), last));
  useKey("[", () => go(shown - 1), { label: "One event back", group: "Run" });
  useKey("]", () => (shown < last ? go(shown + 1) : undefined), { label: "One event forward", group: "Run" });
  if (last < 2) return null;
  return (
    <div className={at === undefined ? "slider" : "slider past"}>
      <IconButton
        icon="left"
        className="small"
        label="One event back"
        disabled={shown <= 1}
        onClick={() => go(shown - 1)}
      />
      <input
        type="range"
        min={1}
        max={last}
        value={shown}
        aria-label="Show the run at event"
        aria-valuetext={at === undefined ? "now" : `event ${shown} of ${last}`}
        style={{ "--part": (shown - 1) / (last - 1) } as React.CSSProperties}
        onChange={(event) => go(Number(event.target.value))}
      />
      <IconButton
        icon="right"
        className="small"
        label="One event forward"
        disabled={shown >= last}
        onClick={() => go(shown + 1)}
      />
      <span className="slider-point">
        {shown} <span className="faint">of {last}</span>
      </span>
      <Button look="ghost" className="small" disabled={at === undefined} onClick={() => onAt(undefined)}>
        Now
      </Button>
    </div>
  );
}

interface BannerProps {
  at: number;
  point: Event | undefined;
  last: number;
  onFork?: () => void;
  onLive: () => void;
}

export function PastBanner({ at, point, last, onFork, onLive }: BannerProps) {
  return (
    <div className="past-banner" role="status">
      <Icon name="clock" />
      <span className="grow">
        Showing the run <strong>at event {at}</strong> of {last}
        {point?.seq === at && (
          <span className="muted" title={absolute(point.at)}>
            , <code>{point.type}</code> at {clock(point.at)}
          </span>
        )}
      </span>
      {onFork && (
        <Button icon="fork" className="small" onClick={onFork}>
          Fork from here
        </Button>
      )}
      <Button className="small" onClick={onLive}>
        Back to now
      </Button>
    </div>
  );
}
