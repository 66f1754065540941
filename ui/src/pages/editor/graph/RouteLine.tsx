/** A way on the canvas. Those that go back run beside the nodes. */

import { BaseEdge, type EdgeProps, getBezierPath } from "@xyflow/react";
import { shortLabel } from "../../run/graph/layout";
import type { RouteEdge } from "./flow";

const OUT = 36;

export function RouteLine(props: EdgeProps<RouteEdge>) {
  const { data, selected, sourceX, sourceY, targetX, targetY } = props;
  const [path, x, y] =
    data?.beside !== undefined ? backPath(sourceX, sourceY, targetX, targetY, data.beside) : getBezierPath(props);
  return (
    <BaseEdge
      path={path}
      label={data?.label ? shortLabel(data.label) : undefined}
      labelX={x}
      labelY={y}
      labelShowBg
      markerEnd="url(#graph-arrow)"
      className={`edge${data?.dashed ? " ahead" : ""}${selected ? " near" : ""}`}
      interactionWidth={18}
    />
  );
}

/** Out below, up at the right of both, and in from above. */
function backPath(sx: number, sy: number, tx: number, ty: number, beside: number): [string, number, number] {
  const right = beside + OUT;
  const path = `M${sx},${sy} C${sx},${sy + OUT} ${right},${sy + OUT} ${right},${sy - OUT} L${right},${ty + OUT} C${right},${ty - OUT} ${tx},${ty - OUT} ${tx},${ty}`;
  return [path, right, (sy + ty) / 2];
}
