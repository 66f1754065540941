/**
 * The edges, in one drawing a depth: they react to nothing, so they need no element of their own each, and moving the
 * picture costs the same for five and five hundred.
 */

import { ViewportPortal } from "@xyflow/react";
import { memo, useMemo } from "react";
import type { View } from "../../../api/types";
import type { Box, Layout, Line } from "./layout";
import { edgePath } from "./path";

type Look = "past" | "now" | "ahead";

interface EdgesProps {
  view: View;
  layout: Layout;
}

export function Edges({ view, layout }: EdgesProps) {
  const depths = useMemo(() => [...Map.groupBy(layout.lines, (line) => line.depth)], [layout]);
  const looks = useMemo(() => looksOf(view, layout.lines), [view, layout]);
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
}

const EdgePath = memo(function EdgePath({ line, from, to, across, look }: PathProps) {
  if (!from || !to) return null;
  const { path, middle } = edgePath(from, to, across, line);
  return (
    <>
      <path className={`edge ${look}`} d={path} markerEnd="url(#graph-arrow)" />
      {line.label && (
        <text className="edge-label" x={middle.x} y={middle.y - 4} textAnchor="middle">
          {line.label}
        </text>
      )}
    </>
  );
});

function looksOf(view: View, lines: readonly Line[]): Map<Line, Look> {
  const status = new Map(view.nodes.map((node) => [node.id, node.status]));
  return new Map(
    lines.map((line): [Line, Look] => {
      const target = status.get(line.target);
      if (target === "running" || target === "retrying") return [line, "now"];
      return [line, target === "pending" || target === "skipped" ? "ahead" : "past"];
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
