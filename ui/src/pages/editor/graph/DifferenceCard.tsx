/** A node of a difference: what it is, and what became of it. */

import type { NodeProps } from "@xyflow/react";
import { memo } from "react";
import type { Node } from "../../../api/types";
import { Icon, type IconName } from "../../../components/Icon";
import type { CardNode } from "../../run/graph/NodeCard";
import type { NodeRenderer } from "../../run/graph/node-renderer";
import { useNearness } from "../../run/graph/zoom";
import type { DifferenceNode, NodeChange } from "./difference";

const ICONS: { [change in NodeChange]?: IconName } = { added: "plus", removed: "minus", changed: "edit" };

const DifferenceCard = memo(function DifferenceCard({ data, selected }: NodeProps<CardNode>) {
  const { label, kind, change, id } = data.node as DifferenceNode;
  const far = useNearness() !== "near";
  const icon = ICONS[change];
  const look = `card-node change-${change}${selected ? " selected" : ""}`;
  if (far) {
    return (
      <div className={`${look} far`}>
        {icon && <Icon name={icon} />}
        <span className="far-name">{label}</span>
      </div>
    );
  }
  return (
    <div className={look}>
      <div className="card-line">
        {icon && <Icon name={icon} size={14} />}
        <span className="clip card-label" title={id}>
          {label}
        </span>
      </div>
      <div className="card-line change-foot">
        <span>{kind}</span>
        {change !== "same" && <strong>{change}</strong>}
      </div>
    </div>
  );
});

export const differenceRenderer: NodeRenderer = {
  card: DifferenceCard,
  spoken: (node: Node) => {
    const { label, kind, change } = node as DifferenceNode;
    return change === "same" ? `${label}, ${kind}` : `${label}, ${kind}, ${change}`;
  },
  drawn: (node: Node) => [node.kind, (node as DifferenceNode).change],
};
