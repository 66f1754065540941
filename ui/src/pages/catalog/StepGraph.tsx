/** A graph of steps; loaded when it is first shown, as the canvas is big. */

import Graph, { type GraphProps } from "../run/graph/Graph";
import { stepLook } from "./StepCard";

export default function StepGraph(props: GraphProps) {
  return <Graph {...props} look={stepLook} />;
}
