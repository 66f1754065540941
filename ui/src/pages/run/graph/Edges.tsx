/**
 * The edges, in one drawing a depth: they react to nothing, so they need no element of their own each, and moving the
 * picture costs the same for five and five hundred.
 */

import { ViewportPortal } from "@xyflow/react";
import { memo, useMemo } from "react";
import type { Edge } from "../../../api/types";
import { groupBy } from "../../../components/group-by";
import { labelPlaces } from "./labels";
import { type Box, type Layout, type Line, type Point, shortLabel } from "./layout";
import type { EdgeMark, GraphView } from "./model";
import { edgePath } from "./path";

type EdgeLook = "past" | "now" | "ahead" | "won";

interface EdgesProps {
  view: GraphView;
  layout: Layout;
  selected: string | undefined;
}

export function Edges({ view, layout, selected }: EdgesProps) {
  const depths = useMemo(() => [...groupBy(layout.lines, (line) => line.depth)], [layout]);
  const looks = useMemo(() => looksOf(view, layout.lines), [view, layout]);
  const labels = useMemo(() => labelPlaces(layout), [layout]);
  return (
    <ViewportPortal>
      {depths.map(([depth, lines]) => (
        <svg key={depth} className="edges" style={{ zIndex: depth * 2 - 1 }} aria-hidden="true">
          {lines.map((line) => (
            <EdgePath
              key={`${line.source}\n${line.target}`}
              line={line}
              from={layout.boxes.get(line.source)}
              to={layout.boxes.get(line.target)}
              across={layout.direction === "LR"}
              look={looks.get(line) ?? "past"}
              label={labels.get(line)}
              near={selected !== undefined && (line.source === selected || line.target === selected)}
              mark={view.marks?.get(wayOf(line))}
            />
          ))}
        </svg>
      ))}
    </ViewportPortal>
  );
}

interface PathProps {
  line: Line;
  from: Box | undefined;
  to: Box | undefined;
  across: boolean;
  look: EdgeLook;
  /** Where its label stands, if it is shown. */
  label: Point | undefined;
  /** Leads to or from what is selected. */
  near: boolean;
  mark: EdgeMark | undefined;
}

const EdgePath = memo(function EdgePath({ line, from, to, across, look, label, near, mark }: PathProps) {
  if (!from || !to) return null;
  const { path, middle } = edgePath(from, to, across, line);
  const looks = ["edge", look, near ? "near" : "", mark?.change ?? ""].filter(Boolean).join(" ");
  return (
    <>
      <path className={looks} d={path} markerEnd="url(#graph-arrow)" />
      {label && (
        <text className={near ? "edge-label near" : "edge-label"} x={label.x} y={label.y} textAnchor="middle">
          {shortLabel(line.label ?? "")}
        </text>
      )}
      {mark?.badge && (
        <g className="edge-badge" transform={`translate(${middle.x} ${middle.y})`}>
          <title>{mark.badge.title}</title>
          <circle r="10" />
          <text textAnchor="middle" dy="4">
            {mark.badge.text}
          </text>
        </g>
      )}
    </>
  );
});

export function looksOf(view: GraphView, lines: readonly Line[]): Map<Line, EdgeLook> {
  const status = new Map(view.nodes.map((node) => [node.id, node.status]));
  const races = racesOf(view);
  return new Map(
    lines.map((line): [Line, EdgeLook] => {
      const target = status.get(line.target);
      if (target === "running" || target === "retrying") return [line, "now"];
      const race = races.get(wayOf(line));
      if (race === "won") return [line, "won"];
      const unused =
        race === "lost" || target === "pending" || target === "skipped" || status.get(line.source) === "skipped";
      return [line, unused ? "ahead" : "past"];
    }),
  );
}

/** Several nodes provide the same input: which was first, and which came too late. */
function racesOf({ edges }: GraphView): Map<string, "won" | "lost"> {
  const goal = ({ target, label }: Edge) => `${target}\n${label}`;
  const raced = new Set(edges.filter(({ chosen }) => chosen).map(goal));
  const found = new Map<string, "won" | "lost">();
  for (const [way, between] of groupBy(edges, wayOf)) {
    if (between.some(({ chosen }) => chosen)) found.set(way, "won");
    else if (between.every((edge) => raced.has(goal(edge)))) found.set(way, "lost");
  }
  return found;
}

function wayOf({ source, target }: { source: string; target: string }): string {
  return `${source}\n${target}`;
}

export function ArrowHead() {
  return (
    <svg className="graph-defs" aria-hidden="true">
      <defs>
        <marker id="graph-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M1 1.500 6 4 1 6.500" fill="none" stroke="context-stroke" strokeWidth="1.400" />
        </marker>
      </defs>
    </svg>
  );
}
