/**
 * The edges, in one drawing a depth: they react to nothing, so they need no element of their own each, and moving the
 * picture costs the same for five and five hundred.
 */

import { ViewportPortal } from "@xyflow/react";
import { memo, useMemo } from "react";
import type { View } from "../../../api/types";
import { grouped } from "../../../parts/grouped";
import { type Box, type Layout, type Line, type Point, shortLabel } from "./layout";
import { edgePath } from "./path";

type Look = "past" | "now" | "ahead";

interface EdgesProps {
  view: Pick<View, "nodes">;
  layout: Layout;
}

export function Edges({ view, layout }: EdgesProps) {
  const depths = useMemo(() => [...grouped(layout.lines, (line) => line.depth)], [layout]);
  const looks = useMemo(() => looksOf(view, layout.lines), [view, layout]);
  const labelled = useMemo(() => labelledOf(layout), [layout]);
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
              label={labelled.has(line)}
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
  look: Look;
  /** Whether its label is shown. */
  label: boolean;
}

const EdgePath = memo(function EdgePath({ line, from, to, across, look, label }: PathProps) {
  if (!from || !to) return null;
  const { path, middle } = edgePath(from, to, across, line);
  return (
    <>
      <path className={`edge ${look}`} d={path} markerEnd="url(#graph-arrow)" />
      {label && line.label && (
        <text className="edge-label" x={middle.x} y={middle.y - 4} textAnchor="middle">
          {shortLabel(line.label)}
        </text>
      )}
    </>
  );
});

/** How near two equal labels are when one of them will do. */
const NEAR = { x: 56, y: 16 };

function labelledOf({ lines, boxes, direction }: Layout): Set<Line> {
  const shown = new Set<Line>();
  const places = new Map<string, Point[]>();
  for (const line of lines) {
    const from = boxes.get(line.source);
    const to = boxes.get(line.target);
    if (!line.label || !from || !to) continue;
    const { middle } = edgePath(from, to, direction === "LR", line);
    const others = places.get(line.label) ?? [];
    if (others.some(({ x, y }) => Math.abs(x - middle.x) < NEAR.x && Math.abs(y - middle.y) < NEAR.y)) continue;
    places.set(line.label, [...others, middle]);
    shown.add(line);
  }
  return shown;
}

function looksOf(view: Pick<View, "nodes">, lines: readonly Line[]): Map<Line, Look> {
  const status = new Map(view.nodes.map((node) => [node.id, node.status]));
  return new Map(
    lines.map((line): [Line, Look] => {
      const target = status.get(line.target);
      if (target === "running" || target === "retrying") return [line, "now"];
      const unused = target === "pending" || target === "skipped" || status.get(line.source) === "skipped";
      return [line, unused ? "ahead" : "past"];
    }),
  );
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
