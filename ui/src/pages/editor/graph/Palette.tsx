/** The types of nodes: drag one onto the canvas, or press it to put one after what is selected. */

import { type DragEvent, useState } from "react";
import type { NodeType } from "../../../api/schema";

export const DRAGGED = "application/x-plait-node-type";

interface Props {
  types: readonly NodeType[];
  onAdd: (type: string) => void;
}

const SEARCHED = 12;

export function Palette({ types, onAdd }: Props) {
  const [q, setQ] = useState("");
  const drag = (event: DragEvent, type: string) => {
    event.dataTransfer.setData(DRAGGED, type);
    event.dataTransfer.effectAllowed = "copy";
  };
  const found = types.filter(({ type_name, display_name = "", description = "" }) =>
    `${type_name} ${display_name} ${description}`.toLowerCase().includes(q.toLowerCase()),
  );
  return (
    <nav className="ed-palette" aria-label="Node types">
      {types.length > SEARCHED && (
        <input
          type="search"
          className="input"
          aria-label="Search node types"
          placeholder="Search"
          value={q}
          onChange={(event) => setQ(event.target.value)}
        />
      )}
      <ul>
        {found.map(({ type_name, display_name, description }) => (
          <li key={type_name}>
            <button
              type="button"
              draggable
              className="ed-type"
              title={description ? `${description}. Drag it onto the canvas, or press to add it.` : undefined}
              aria-label={`Add ${type_name}`}
              onDragStart={(event) => drag(event, type_name)}
              onClick={() => onAdd(type_name)}
            >
              <strong>{display_name || type_name}</strong>
              {description && <span className="muted">{description}</span>}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
