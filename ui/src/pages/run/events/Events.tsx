/** The event log, live: filter it, look into an event, and compare the run at any two points. */

import { type CSSProperties, useDeferredValue, useMemo, useRef, useState } from "react";
import type { LiveEvents } from "../../../api/live";
import type { Event } from "../../../api/types";
import { Button, IconButton } from "../../../components/Button";
import { Empty } from "../../../components/Empty";
import { ErrorBox } from "../../../components/ErrorBox";
import { absolute, clock } from "../../../components/format";
import { Json } from "../../../components/Json";
import { VirtualList, type VirtualListHandle } from "../../../components/VirtualList";
import { useKey } from "../../../shell/keys";
import { useQuery } from "../../../shell/router";
import { chosenEvents, summary, typesOf } from "./filter";
import { PointDiff } from "./PointDiff";
import "./events.css";

interface EventsProps {
  id: string;
  live: LiveEvents;
  at: number | undefined;
}

const ROW = 30;

export default function Events({ id, live, at }: EventsProps) {
  const [query, setQuery] = useQuery();
  const [text, setText] = useState("");
  const type = query.get("type") ?? "";
  const open = Number(query.get("event")) || undefined;
  const wanted = useDeferredValue(text);
  const events = useMemo(() => chosenEvents(live.events, type, wanted), [live.events, type, wanted]);
  const points = { a: Number(query.get("a")) || undefined, b: Number(query.get("b")) || undefined };
  const shown = live.events.find((event) => event.seq === open);
  const list = useRef<VirtualListHandle>(null);
  const select = (seq: number | undefined) => setQuery({ event: seq });
  const step = (by: number) => () => {
    const from = events.findIndex((event) => event.seq === open);
    const next = Math.min(Math.max(from + by, 0), events.length - 1);
    select(events[next]?.seq);
    list.current?.show(next);
  };
  useKey("j", step(1), { label: "Next event", group: "Events" });
  useKey("k", step(-1), { label: "Previous event", group: "Events" });
  useKey("a", () => setQuery({ a: open }), { label: "Compare from this event", group: "Events", enabled: !!open });
  useKey("b", () => setQuery({ b: open }), { label: "Compare to this event", group: "Events", enabled: !!open });
  if (live.problem) return <ErrorBox error={live.problem} />;
  return (
    <div className="events">
      <div className="row wrap">
        <input
          type="search"
          className="input events-search"
          aria-label="Search events"
          placeholder="Search events"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <select
          className="choice"
          aria-label="Type"
          value={type}
          onChange={(event) => setQuery({ type: event.target.value })}
        >
          <option value="">All types</option>
          {typesOf(live.events).map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <span className="faint">
          {events.length} of {live.events.length}
        </span>
        <Points {...points} onClear={() => setQuery({ a: undefined, b: undefined })} />
      </div>
      {points.a !== undefined && points.b !== undefined && (
        <PointDiff id={id} a={points.a} b={points.b} onClose={() => setQuery({ b: undefined })} />
      )}
      <div className={shown ? "events-split open" : "events-split"}>
        {events.length === 0 ? (
          <Empty icon="search" title={live.events.length ? "No events match this filter" : "No events yet"} />
        ) : (
          <VirtualList
            ref={list}
            className="events-list"
            label="Events"
            count={events.length}
            rowHeight={ROW}
            follow={at === undefined && open === undefined}
            row={(index, style) => {
              const event = events[index];
              return (
                event && (
                  <EventRow
                    key={event.seq}
                    event={event}
                    style={style}
                    look={look(event.seq, open, at)}
                    points={points}
                    onOpen={() => select(event.seq === open ? undefined : event.seq)}
                    onPoint={(point) => setQuery({ [point]: points[point] === event.seq ? undefined : event.seq })}
                  />
                )
              );
            }}
          />
        )}
        {shown && (
          <EventDetail event={shown} onClose={() => select(undefined)} onAt={() => setQuery({ at: shown.seq })} />
        )}
      </div>
    </div>
  );
}

function look(seq: number, open: number | undefined, at: number | undefined): string {
  return `event${seq === open ? " open" : ""}${at !== undefined && seq > at ? " ahead" : ""}${seq === at ? " here" : ""}`;
}

interface Points {
  a?: number;
  b?: number;
}

function Points({ a, b, onClear }: Points & { onClear: () => void }) {
  if (a === undefined && b === undefined) {
    return <span className="faint events-hint">Mark two events A and B to compare the run at those events.</span>;
  }
  return (
    <span className="row">
      <span className="chip">A {a ?? "?"}</span>
      <span className="chip">B {b ?? "?"}</span>
      <Button look="ghost" className="small" onClick={onClear}>
        Clear
      </Button>
    </span>
  );
}

interface RowProps {
  event: Event;
  style: CSSProperties;
  look: string;
  points: Points;
  onOpen: () => void;
  onPoint: (point: "a" | "b") => void;
}

function EventRow({ event, style, look, points, onOpen, onPoint }: RowProps) {
  return (
    <div className={look} style={style}>
      {(["a", "b"] as const).map((point) => (
        <button
          key={point}
          type="button"
          className="point"
          aria-pressed={points[point] === event.seq}
          aria-label={`Compare ${point === "a" ? "from" : "to"} event ${event.seq}`}
          onClick={() => onPoint(point)}
        >
          {point.toUpperCase()}
        </button>
      ))}
      <button type="button" className="event-main" aria-expanded={look.includes("open")} onClick={onOpen}>
        <span className="faint event-seq">{event.seq}</span>
        <time className="muted" title={absolute(event.at)}>
          {clock(event.at)}
        </time>
        <span className="event-type">{event.type}</span>
        <span className="clip faint event-data">{summary(event.data)}</span>
      </button>
    </div>
  );
}

interface DetailProps {
  event: Event;
  onClose: () => void;
  onAt: () => void;
}

function EventDetail({ event, onClose, onAt }: DetailProps) {
  useKey("Escape", onClose);
  return (
    <section className="event-detail" aria-label={`Event ${event.seq}`}>
      <div className="row">
        <h2 className="clip">{event.type}</h2>
        <span className="faint">{event.seq}</span>
        <span className="grow" />
        <Button look="ghost" className="small" icon="clock" onClick={onAt}>
          Run at this event
        </Button>
        <IconButton icon="close" className="small" label="Close the event" onClick={onClose} />
      </div>
      <p className="muted">{absolute(event.at)}</p>
      <Json value={event.data} label="data of the event" />
    </section>
  );
}
