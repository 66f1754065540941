/** The steps of a run as a tree: what holds what, the state of each, and the iterations in which it moved. */

import { useMemo, useState } from "react";
import type { StepView } from "../../../api/schema";
import type { Node } from "../../../api/types";
import { Icon } from "../../../components/Icon";
import { Status } from "../../../components/Status";
import { VirtualList } from "../../../components/VirtualList";
import { iterationText, rowsOf, stateText, type TreeRow } from "./tree";
import "./details.css";

const ROW = 30;

interface Props {
  tree: { [node: string]: StepView };
  /** How many there were. */
  iteration: number;
  nodes: readonly Node[];
  selected: string | undefined;
  onNode: (id: string) => void;
}

export default function Tree({ tree, iteration, nodes, selected, onNode }: Props) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => rowsOf(nodes, folded), [nodes, folded]);
  const fold = (id: string) => {
    const next = new Set(folded);
    if (!next.delete(id)) next.add(id);
    setFolded(next);
  };
  return (
    <div className="step-tree">
      <p className="muted">
        {nodes.length.toLocaleString("en")} steps, {iteration.toLocaleString("en")}{" "}
        {iteration === 1 ? "iteration" : "iterations"}
      </p>
      <VirtualList
        label="Step tree"
        className="card"
        role="tree"
        count={rows.length}
        rowHeight={ROW}
        head={<Head />}
        row={(index, style) => {
          const row = rows[index];
          return (
            row && (
              <Row
                key={row.node.id}
                row={row}
                facts={tree[row.node.id]}
                selected={row.node.id === selected}
                style={style}
                onFold={fold}
                onNode={onNode}
              />
            )
          );
        }}
      />
    </div>
  );
}

function Head() {
  return (
    <div className="step-row step-row-head" aria-hidden="true">
      <span>Step</span>
      <span>Facet</span>
      <span>Status</span>
      <span>State</span>
      <span title="In which it was created and ended">Iterations</span>
    </div>
  );
}

interface RowProps {
  row: TreeRow;
  facts: StepView | undefined;
  selected: boolean;
  style: React.CSSProperties;
  onFold: (id: string) => void;
  onNode: (id: string) => void;
}

function Row({ row: { node, level, inside, open }, facts, selected, style, onFold, onNode }: RowProps) {
  return (
    <div
      role="treeitem"
      tabIndex={-1}
      aria-level={level}
      aria-expanded={inside > 0 ? open : undefined}
      aria-selected={selected}
      className={selected ? "step-row selected" : "step-row"}
      style={style}
    >
      <span className="step-name" style={{ paddingLeft: (level - 1) * 16 }}>
        {inside > 0 ? (
          <button
            type="button"
            className={open ? "step-fold open" : "step-fold"}
            aria-label={open ? `Fold ${node.label}` : `Unfold ${node.label}, ${inside} inside`}
            onClick={() => onFold(node.id)}
          >
            <Icon name="right" size={12} />
          </button>
        ) : (
          <span className="step-fold" />
        )}
        <button type="button" className="why-node clip" onClick={() => onNode(node.id)} title={node.path || node.id}>
          {node.label}
        </button>
      </span>
      <span className="mono clip muted" title={facts?.facet}>
        {facts?.facet}
      </span>
      <span>
        <Status status={node.status} />
      </span>
      <span className="mono clip" title={node.error?.message ?? facts?.state}>
        {stateText(facts?.state)}
      </span>
      <span className="mono">{iterationText(facts ?? {})}</span>
    </div>
  );
}
