/** What the tasks of the run wrote, filtered by node, level and text. */

import { useEffect, useMemo, useRef, useState } from "react";
import { type ApiProblem, api } from "../../api/client";
import { withQuery } from "../../api/namespace";
import type { Level, LogLine, LogPage, View } from "../../api/types";
import { asProblem } from "../../api/use-resource";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { absolute, clock } from "../../components/format";
import { VirtualList } from "../../components/VirtualList";
import { useQuery } from "../../shell/router";
import { usePoll } from "../../shell/use-poll";
import { placeOf } from "./distinct-names";
import { runPath } from "./use-run";

export const LEVELS: readonly Level[] = ["debug", "info", "warning", "error"];

interface LogsProps {
  id: string;
  seq: number;
  running: boolean;
  view: View;
}

export function Logs({ id, seq, running, view }: LogsProps) {
  const [query, setQuery] = useQuery();
  const node = query.get("node") ?? "";
  const level = (query.get("level") ?? "debug") as Level;
  const [text, setText] = useState("");
  const { lines, problem } = useLogs(id, node || undefined, running, seq);
  const shown = useMemo(() => chosen(lines ?? [], level, text), [lines, level, text]);
  return (
    <div className="logs">
      <div className="row wrap">
        <select
          className="choice"
          aria-label="Node"
          value={node}
          onChange={(event) => setQuery({ node: event.target.value })}
        >
          <option value="">All nodes</option>
          {view.nodes.map((one) => (
            <option key={one.id} value={one.id}>
              {placeOf(one)}
            </option>
          ))}
        </select>
        <select
          className="choice"
          aria-label="Level"
          value={level}
          onChange={(event) => setQuery({ level: event.target.value === "debug" ? undefined : event.target.value })}
        >
          {LEVELS.map((one) => (
            <option key={one} value={one}>
              {one === "debug" ? "All levels" : `${one} and above`}
            </option>
          ))}
        </select>
        <input
          type="search"
          className="input logs-search"
          aria-label="Search logs"
          placeholder="Search"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <span className="faint">
          {shown.length} {shown.length === 1 ? "line" : "lines"}
        </span>
      </div>
      {problem && <ErrorBox error={problem} />}
      {lines && lines.length === 0 && (
        <Empty icon="runs" title="No log lines" command='step_log("charged the card")'>
          Steps write here with plait.step_log, or with Python's logging.
        </Empty>
      )}
      {shown.length > 0 && <LogLines lines={shown} withNode={!node} follow={running} />}
    </div>
  );
}

export function LogLines({ lines, withNode, follow }: { lines: LogLine[]; withNode: boolean; follow: boolean }) {
  return (
    <VirtualList
      className="loglines"
      label="Log lines"
      count={lines.length}
      rowHeight={22}
      follow={follow}
      row={(index, style) => {
        const line = lines[index];
        return line && <Line key={line.id} line={line} style={style} withNode={withNode} />;
      }}
    />
  );
}

function Line({ line, style, withNode }: { line: LogLine; style: React.CSSProperties; withNode: boolean }) {
  return (
    <div className={`logline ${line.level}`} style={style}>
      <time className="faint" title={absolute(line.at)}>
        {clock(line.at)}
      </time>
      <span className="loglevel">{line.level}</span>
      {withNode && (
        <span className="clip lognode" title={line.node}>
          {line.node}
          {line.attempt > 1 && <span className="faint"> ×{line.attempt}</span>}
        </span>
      )}
      <span className="clip" title={line.text}>
        {line.text}
      </span>
    </div>
  );
}

export function chosen(lines: readonly LogLine[], level: Level, text: string): LogLine[] {
  const least = LEVELS.indexOf(level);
  const wanted = text.trim().toLowerCase();
  return lines.filter(
    (line) => LEVELS.indexOf(line.level) >= least && (!wanted || line.text.toLowerCase().includes(wanted)),
  );
}

const PAGE = 1000;

/** All lines so far and new ones, fetched after each event and every two seconds while the run is running. */
export function useLogs(id: string, node: string | undefined, running: boolean, seq: number) {
  const key = `${id} ${node ?? ""}`;
  const [state, setState] = useState<{ key: string; lines?: LogLine[]; problem?: ApiProblem }>({ key });
  const progress = useRef({ key: "", after: 0, busy: false });

  const more = async () => {
    const mine = progress.current;
    if (mine.busy || mine.key !== key) return;
    mine.busy = true;
    try {
      for (let full = true; full && progress.current === mine; ) {
        const page = await api.get<LogPage>(withQuery(runPath(id, "/logs"), { node, after: mine.after, limit: PAGE }));
        full = page.lines.length >= PAGE;
        mine.after = page.lines.at(-1)?.id ?? mine.after;
        if (progress.current !== mine) return;
        setState((old) => ({ key, lines: [...(old.key === key ? (old.lines ?? []) : []), ...page.lines] }));
      }
    } catch (error) {
      if (progress.current === mine) setState((old) => ({ ...old, key, problem: asProblem(error) }));
    } finally {
      mine.busy = false;
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key starts from the beginning
  useEffect(() => {
    progress.current = { key, after: 0, busy: false };
    setState({ key });
    void more();
  }, [key]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each event may have brought lines
  useEffect(() => void more(), [seq]);
  usePoll(() => running && void more(), 2000);
  return state.key === key ? state : { lines: undefined, problem: undefined };
}
