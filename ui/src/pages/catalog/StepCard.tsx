/** A step in the graph: its name, type and health, and where it stands in the plan. */

import type { NodeProps } from "@xyflow/react";
import { memo } from "react";
import type { Node } from "../../api/types";
import { Icon } from "../../components/Icon";
import type { CardNode } from "../run/graph/NodeCard";
import type { NodeRenderer } from "../run/graph/node-renderer";
import { useNearness } from "../run/graph/zoom";
import type { StepNode } from "./graph-view";
import { Health } from "./Health";
import { PLACE_WORDS } from "./plan/step-status";
import "./step-card.css";

const StepCard = memo(function StepCard({ data, selected }: NodeProps<CardNode>) {
  const { label, kind, place, why, health, id } = data.node as StepNode;
  const far = useNearness() !== "near";
  const look = `card-node step-card ${place ? `place-${place}` : `health-${health}`}${selected ? " selected" : ""}`;
  if (far) {
    return (
      <div className={`${look} far`}>
        <span className="far-name">{label}</span>
      </div>
    );
  }
  return (
    <div className={look}>
      <div className="card-line">
        {place === "goal" && <Icon name="goal" size={14} />}
        {place === "gap" && <Icon name="warning" size={14} />}
        <span className="clip card-label" title={id}>
          {label}
        </span>
        <span className="grow" />
        {health && <Health health={{ status: health }} />}
      </div>
      <div className="card-line step-foot">
        <span className="clip" title={why}>
          {place && place !== "planned" && place !== "goal" ? why : kind}
        </span>
      </div>
    </div>
  );
});

export const stepLook: NodeRenderer = {
  card: StepCard,
  spoken: (node: Node) => {
    const { label, kind, place, why, health } = node as StepNode;
    if (place === "init") return `given: ${why}`;
    if (place === "gap") return `${label}, missing input`;
    if (place === "hub") return `attribute ${label}`;
    return [label, kind, health === "unhealthy" ? health : "", place ? PLACE_WORDS[place] : ""]
      .filter(Boolean)
      .join(", ");
  },
  drawn: (node: Node) => {
    const { kind, place, why, health } = node as StepNode;
    return [kind, place, why, health];
  },
};
