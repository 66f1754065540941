/** The run over time: a row a node; attempts, waits between them, queue time and waits for others each look different. */

import { type CSSProperties, useEffect, useMemo, useRef, useState } from "react";
import type { Pause, RunStatus, Timeline as TimelineData } from "../../../api/types";
import { useResource } from "../../../api/use-resource";
import { Button, IconButton } from "../../../components/Button";
import { ErrorBox } from "../../../components/ErrorBox";
import { clock, span as spanWords } from "../../../components/format";
import { StatusIcon } from "../../../components/Status";
import { useNow } from "../../../components/Time";
import { VirtualList, type VirtualListHandle } from "../../../components/VirtualList";
import { Loading } from "../../../shell/fallbacks";
import { useKey } from "../../../shell/keys";
import { usePoll } from "../../../shell/use-poll";
import { idleWithin } from "../active-time";
import { distinctNames } from "../distinct-names";
import { NoNodes } from "../NoNodes";
import { runPath } from "../use-run";
import { extent, type Piece, percent, type Row, rows, type Span, share, ticks } from "./gantt";
import "./timeline.css";

interface TimelineProps {
  id: string;
  seq: number;
  status: RunStatus;
  /** In which the run stood still. */
  pauses: readonly Pause[] | undefined;
  selected: string | undefined;
  onSelect: (id: string) => void;
}

const ROW = 28;
const MOST_ZOOM = 256;

export default function Timeline({ id, seq, status, pauses, selected, onSelect }: TimelineProps) {
  const { data, error, reload } = useResource<TimelineData>(runPath(id, "/timeline"));
  const live = status === "running";
  useReloads(reload, seq, live);
  const now = useServerNow(data, live);
  const all = useMemo(() => (data ? rows(data.bars, now) : []), [data, now]);
  const names = useMemo(() => distinctNames((data?.bars ?? []).map((bar) => ({ ...bar, id: bar.node }))), [data]);
  const span = useMemo(() => extent(all, now, live, pauses), [all, now, live, pauses]);
  const [zoom, setZoom] = useState(1);
  const list = useRef<VirtualListHandle>(null);
  const chosen = all.findIndex((row) => row.bar.node === selected);
  useKey("+", () => setZoom((old) => Math.min(old * 2, MOST_ZOOM)), { label: "Zoom in", group: "Timeline" });
  useKey("-", () => setZoom((old) => Math.max(old / 2, 1)), { label: "Zoom out", group: "Timeline" });
  useKey("0", () => setZoom(1), { label: "Show all", group: "Timeline" });
  const step = (by: number) => () => {
    const next = all[Math.min(Math.max(chosen + by, 0), all.length - 1)];
    if (!next) return;
    onSelect(next.bar.node);
    list.current?.show(all.indexOf(next));
  };
  useKey("j", step(1), { label: "Next node", group: "Timeline" });
  useKey("k", step(-1), { label: "Previous node", group: "Timeline" });
  if (error && !data) return <ErrorBox error={error} />;
  if (!data) return <Loading what="Loading the timeline" />;
  if (all.length === 0) return <NoNodes status={status}>Each node gets a row here when it starts.</NoNodes>;
  return (
    <div className="gantt">
      <div className="gantt-tools">
        <Legend />
        <span className="grow" />
        <IconButton
          icon="minus"
          className="small"
          label="Zoom out (-)"
          disabled={zoom <= 1}
          onClick={() => setZoom(zoom / 2)}
        />
        <IconButton
          icon="plus"
          className="small"
          label="Zoom in (+)"
          disabled={zoom >= MOST_ZOOM}
          onClick={() => setZoom(zoom * 2)}
        />
        <Button look="ghost" className="small" disabled={zoom === 1} onClick={() => setZoom(1)}>
          Fit
        </Button>
      </div>
      <VirtualList
        ref={list}
        className="gantt-rows"
        label="Timeline by node"
        count={all.length}
        rowHeight={ROW}
        width={`calc(var(--names) + (100% - var(--names)) * ${zoom})`}
        head={<Axis span={span} zoom={zoom} />}
        over={<Marks now={live ? now : undefined} span={span} />}
        row={(index, style) => {
          const row = all[index];
          return (
            row && (
              <RowLine
                key={row.bar.node}
                row={row}
                name={names.get(row.bar.node) ?? row.bar.label}
                span={span}
                style={style}
                selected={row.bar.node === selected}
                onSelect={onSelect}
              />
            )
          );
        }}
      />
    </div>
  );
}

function useReloads(reload: () => void, seq: number, live: boolean) {
  const first = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each event may have moved something
  useEffect(() => {
    if (!first.current) reload();
    first.current = false;
  }, [seq, reload]);
  usePoll(() => live && reload(), 5000);
}

/** The server's time, moved on by the page's clock: the two clocks may differ. */
function useServerNow(data: TimelineData | undefined, live: boolean): number {
  const here = useNow(live);
  const ahead = useMemo(() => (data ? data.now - Date.now() : 0), [data]);
  return live ? here + ahead : (data?.now ?? here);
}

interface RowLineProps {
  row: Row;
  name: string;
  span: Span;
  style: CSSProperties;
  selected: boolean;
  onSelect: (id: string) => void;
}

function RowLine({ row, name, span, style, selected, onSelect }: RowLineProps) {
  const { bar, depth, pieces } = row;
  return (
    <div className={selected ? "gantt-row selected" : "gantt-row"} style={style}>
      <button
        type="button"
        className="gantt-name"
        style={{ paddingLeft: 8 + depth * 14 }}
        aria-pressed={selected}
        title={bar.node}
        onClick={() => onSelect(bar.node)}
      >
        <StatusIcon status={bar.status} size={12} />
        <span className="clip">{name}</span>
        {bar.tries.length > 1 && <span className="faint">×{bar.tries.length}</span>}
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the name beside it is the button; this widens its target */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: as above */}
      <div className="gantt-track" onClick={() => onSelect(bar.node)}>
        {pieces
          .filter((piece) => !inPause(piece, span))
          .map((piece) => (
            <PieceBar key={`${piece.kind} ${piece.from}`} piece={piece} span={span} />
          ))}
      </div>
    </div>
  );
}

/** Between two tries of a run that had ended in between: a pause of the run, no wait of the node. */
function inPause({ kind, from, to }: Piece, { pauses }: Span): boolean {
  return kind === "backoff" && to > from && idleWithin(from, to, pauses) >= to - from;
}

function PieceBar({ piece, span }: { piece: Piece; span: Span }) {
  const left = percent(piece.from, span);
  const width = percent(piece.to, span) - left;
  const look = piece.kind === "try" ? `try ${piece.outcome}` : piece.kind;
  return (
    <div
      className={`piece ${look}${"open" in piece && piece.open ? " open" : ""}`}
      style={{ left: `${left}%`, width: `max(${width}%, 2px)` }}
      title={told(piece, span.pauses)}
    />
  );
}

const NAMES = { queue: "queued", backoff: "waiting to retry", wait: "waiting", scope: "" } as const;

function told(piece: Piece, pauses: readonly Pause[] | undefined): string {
  const idle = idleWithin(piece.from, piece.to, pauses);
  const time = `${spanWords(piece.to - piece.from - idle)}, ${clock(piece.from)} to ${"open" in piece && piece.open ? "now" : clock(piece.to)}`;
  if (piece.kind !== "try") return [NAMES[piece.kind], time].filter(Boolean).join(": ");
  const error = piece.attempt.error ? `\n${piece.attempt.error.message}` : "";
  return `attempt ${piece.number} ${piece.outcome.replace("_", " ")}: ${time}${error}`;
}

function Axis({ span, zoom }: { span: Span; zoom: number }) {
  const marks = ticks(span, (window.innerWidth < 720 ? 2 : 8) * zoom);
  const width = `calc(var(--names) + (100% - var(--names)) * ${zoom})`;
  return (
    <div className="gantt-axis" style={{ width, minWidth: "100%" }} aria-hidden="true">
      <div className="gantt-corner" />
      <div className="gantt-track">
        {marks.map((mark) => (
          <span key={mark} className="gantt-tick" style={{ left: `${share(mark, span)}%` }}>
            {mark === 0 ? clock(span.from).slice(0, 8) : `+${spanWords(mark)}`}
          </span>
        ))}
      </div>
    </div>
  );
}

/** Now, while the run is live; and where it went on after a pause. */
function Marks({ now, span }: { now: number | undefined; span: Span }) {
  return (
    <div className="gantt-now-box">
      {now !== undefined && <div className="gantt-now" style={{ left: `${percent(now, span)}%` }} aria-hidden="true" />}
      {span.pauses?.map((pause) => (
        <div key={pause.start} className="gantt-pause" style={{ left: `${percent(pause.end, span)}%` }}>
          <span>{pauseWords(pause)}</span>
        </div>
      ))}
    </div>
  );
}

function pauseWords({ start, end, kind }: Pause): string {
  return `${kind === "forked" ? "forked" : "tried again"}, ${spanWords(end - start)} later`;
}

function Legend() {
  const kinds = [
    ["try completed", "attempt"],
    ["try failed", "failed attempt"],
    ["backoff", "waiting to retry"],
    ["queue", "queue"],
    ["wait", "waiting"],
    ["scope", "scope"],
  ] as const;
  return (
    <ul className="legend" aria-label="Legend">
      {kinds.map(([look, name]) => (
        <li key={look}>
          <span className="legend-piece">
            <span className={`piece ${look}`} />
          </span>
          {name}
        </li>
      ))}
    </ul>
  );
}
