/** A node on the canvas: what it is called, its type, what is wrong with it; ways begin and end at its sides. */

import { Handle, type NodeProps, Position } from "@xyflow/react";
import { memo } from "react";
import { Icon } from "../../../components/Icon";
import { useNearness } from "../../run/graph/zoom";
import type { CardNode } from "./flow";

export const EditorCard = memo(function EditorCard({ data, selected }: NodeProps<CardNode>) {
  const { label, type, traits, errors, rejects } = data;
  const far = useNearness() !== "near";
  const wrong = errors > 0 && (
    <span className="ed-wrong" title={`${errors} error${errors === 1 ? "" : "s"}`}>
      <Icon name="warning" size={12} />
      {errors}
    </span>
  );
  return (
    <div className={`card-node ed-card${selected ? " selected" : ""}${errors ? " wrong" : ""}${far ? " far" : ""}`}>
      <Handle id="in" type="target" position={Position.Top} />
      {far ? (
        <>
          <span className="far-name">{label}</span>
          {wrong}
        </>
      ) : (
        <>
          <div className="card-line">
            <span className="clip card-label" title={data.id}>
              {label}
            </span>
            {wrong}
          </div>
          <div className="card-line ed-card-foot">
            <span>{type}</span>
            {traits.length > 0 && <span className="clip">{traits.join(", ")}</span>}
          </div>
        </>
      )}
      <Handle id="out" type="source" position={Position.Bottom} title="Drag to another node" />
      {rejects && (
        <Handle id="reject" type="source" position={Position.Right} className="ed-reject" title="If rejected" />
      )}
    </div>
  );
});
