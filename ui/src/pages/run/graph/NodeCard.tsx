/** A node of the graph: status, name, kind, attempts, time. */

import type { Node as FlowNode, NodeProps } from "@xyflow/react";
import { memo } from "react";
import type { Node, NodeStatus } from "../../../api/types";
import { Icon } from "../../../components/Icon";
import { StatusIcon } from "../../../components/Status";
import { Duration } from "../../../components/Time";
import { Link } from "../../../shell/router";
import type { Badge } from "./model";
import { useNearness } from "./zoom";

export interface CardData extends Record<string, unknown> {
  node: Node;
  /** Distinguishes it from its siblings. */
  name: string;
  /** How long its run stood still while it was open. */
  idle?: number;
  /** Statuses of what is inside, when it is a scope. */
  inside?: { [status: string]: number };
  onFold?: (id: string) => void;
  badge?: Badge;
}
export type CardNode = FlowNode<CardData, "card" | "scope">;

export const NodeCard = memo(function NodeCard({ data, selected }: NodeProps<CardNode>) {
  const { node, name, inside, onFold } = data;
  const nearness = useNearness();
  const look = `card-node edge-${node.status}${selected ? " selected" : ""}${inside ? " stacked" : ""}`;
  if (nearness !== "near") {
    return (
      <div className={`${look} far`}>
        {nearness === "far" && <StatusIcon status={node.status} />}
        <span className="far-name">{name}</span>
        <Attempts node={node} />
        <TokenBadge badge={data.badge} />
      </div>
    );
  }
  return (
    <div className={look}>
      <div className="card-line">
        <StatusIcon status={node.status} />
        <span className="clip card-label" title={node.id}>
          {name}
        </span>
        <Attempts node={node} />
        <TokenBadge badge={data.badge} />
        {node.child && <ChildLink id={node.child} />}
        {inside && onFold && <FoldButton node={node} folded onFold={onFold} />}
      </div>
      <div className="card-line card-foot">
        {inside ? <Tally inside={inside} /> : <span className="clip">{node.skip_reason ?? foot(node)}</span>}
        <Took data={data} />
      </div>
    </div>
  );
});

/** What it does, or what there is to say of how it does it: "iteration 2 of 3". */
function foot({ kind, detail }: Node): string {
  return detail && detail.length <= SHORT ? detail : kind;
}
const SHORT = 28;

function TokenBadge({ badge }: { badge: Badge | undefined }) {
  if (!badge) return null;
  return (
    <span className="card-badge" title={badge.title}>
      {badge.text}
    </span>
  );
}

function Attempts({ node: { attempts = 0 } }: { node: Node }) {
  if (attempts < 2) return null;
  return (
    <span className="card-attempts" title={`${attempts} attempts`}>
      ×{attempts}
    </span>
  );
}

export const ScopeBox = memo(function ScopeBox({ data, selected }: NodeProps<CardNode>) {
  const { node, name, onFold } = data;
  const near = useNearness() === "near";
  return (
    <div className={`scope-node edge-${node.status}${selected ? " selected" : ""}`}>
      <div className="card-line scope-head">
        <StatusIcon status={node.status} />
        <span className="clip card-label" title={node.id}>
          {name}
        </span>
        {near && <span className="faint">{node.kind}</span>}
        <span className="grow" />
        {near && <Took data={data} />}
        {onFold && <FoldButton node={node} folded={false} onFold={onFold} />}
      </div>
    </div>
  );
});

function Took({ data: { node, idle } }: { data: CardData }) {
  if (node.started_at === undefined) return null;
  const open = node.ended_at === undefined;
  if (open && !OPEN.has(node.status)) return null;
  return (
    <span className="card-took">
      <Duration from={node.started_at} to={node.ended_at} idle={idle} bare />
    </span>
  );
}
const OPEN: ReadonlySet<NodeStatus> = new Set(["running", "waiting", "retrying", "blocked"]);

function ChildLink({ id }: { id: string }) {
  return (
    <Link
      to={`/runs/${encodeURIComponent(id)}`}
      className="card-button nodrag"
      aria-label={`Open the child run ${id}`}
      title={id}
    >
      <Icon name="child" size={14} />
    </Link>
  );
}

function FoldButton({ node, folded, onFold }: { node: Node; folded: boolean; onFold: (id: string) => void }) {
  return (
    <button
      type="button"
      className="card-button nodrag"
      aria-label={`${folded ? "Unfold" : "Fold"} ${node.label}`}
      title={`${folded ? "Unfold" : "Fold"} (f)`}
      onClick={(event) => {
        event.stopPropagation();
        onFold(node.id);
      }}
    >
      <Icon name={folded ? "unfold" : "fold"} size={14} />
    </button>
  );
}

const ORDER: readonly NodeStatus[] = ["failed", "blocked", "retrying", "running", "waiting", "pending", "completed"];

function Tally({ inside }: { inside: { [status: string]: number } }) {
  return (
    <span className="tally">
      {ORDER.filter((status) => inside[status]).map((status) => (
        <span key={status} className="tally-one">
          <StatusIcon status={status} size={11} />
          {inside[status]}
        </span>
      ))}
    </span>
  );
}
