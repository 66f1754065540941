/** The canvas: nodes are moved, connected by dragging from one side to another, and dropped from the palette. */

import {
  Background,
  BackgroundVariant,
  type NodeChange,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
  useStoreApi,
} from "@xyflow/react";
import { type DragEvent, type RefObject, useEffect, useRef, useState } from "react";
import { IconButton } from "../../../components/Button";
import { Empty } from "../../../components/Empty";
import { bringIn } from "../../run/graph/camera";
import { ArrowHead } from "../../run/graph/Edges";
import { NODE, type Point } from "../../run/graph/layout";
import { READABLE, useZoomStyle } from "../../run/graph/zoom";
import { EditorCard } from "./EditorCard";
import type { CardNode, RouteEdge } from "./flow";
import { DRAGGED } from "./Palette";
import { RouteLine } from "./RouteLine";
import "@xyflow/react/dist/base.css";
import "../../run/graph/graph.css";

interface Props {
  nodes: CardNode[];
  edges: RouteEdge[];
  onMove: (id: string, to: Point, done: boolean) => void;
  onConnect: (source: string, target: string, rejected: boolean) => void;
  onDrop: (type: string, at: Point) => void;
  onSelectNode: (id: string | undefined) => void;
  onSelectRoute: (key: string) => void;
  onTidy: () => void;
}

const NODE_TYPES = { card: EditorCard };
const EDGE_TYPES = { route: RouteLine };

export function Flow(props: Props) {
  const box = useRef<HTMLElement>(null);
  return (
    <ReactFlowProvider>
      <section ref={box} className="graph ed-canvas" aria-label="Graph to edit">
        <Canvas {...props} box={box} />
        {props.nodes.length === 0 && (
          <div className="ed-empty">
            <Empty icon="edit" title="No nodes yet">
              Drag a type of node onto the canvas, or press one. Then drag from the point below a node to another one to
              connect them.
            </Empty>
          </div>
        )}
      </section>
    </ReactFlowProvider>
  );
}

type CanvasProps = Props & { box: RefObject<HTMLElement | null> };

function Canvas({ nodes, edges, onMove, onConnect, onDrop, onSelectNode, onSelectRoute, onTidy, box }: CanvasProps) {
  const flow = useReactFlow();
  useZoomStyle(box);
  // Of what is there from the start; what comes later is put where a person looks.
  const [fit] = useState(nodes.length > 0);
  useSelectionInView(nodes);
  useCentreKept();
  const drop = (event: DragEvent) => {
    const type = event.dataTransfer.getData(DRAGGED);
    if (!type) return;
    event.preventDefault();
    const { x, y } = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    onDrop(type, { x: Math.round(x - NODE.width / 2), y: Math.round(y - NODE.height / 2) });
  };
  const change = (changes: NodeChange<CardNode>[]) => {
    for (const one of changes) {
      if (one.type === "position" && one.position) onMove(one.id, one.position, one.dragging !== true);
    }
  };
  return (
    <ReactFlow
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_TYPES}
      edgeTypes={EDGE_TYPES}
      onNodesChange={change}
      onNodeClick={(_, node) => onSelectNode(node.id)}
      onEdgeClick={(_, edge) => onSelectRoute(edge.id)}
      onPaneClick={() => onSelectNode(undefined)}
      onConnect={({ source, target, sourceHandle }) => onConnect(source, target, sourceHandle === "reject")}
      onDragOver={(event) => event.preventDefault()}
      onDrop={drop}
      connectionRadius={40}
      fitView={fit}
      fitViewOptions={FIT}
      nodesFocusable={false}
      edgesFocusable={false}
      disableKeyboardA11y
      deleteKeyCode={null}
      selectionKeyCode={null}
      multiSelectionKeyCode={null}
      zoomOnDoubleClick={false}
      minZoom={0.1}
      maxZoom={1.5}
    >
      <ArrowHead />
      <Background variant={BackgroundVariant.Dots} gap={20} size={1} />
      <Tools onTidy={onTidy} />
    </ReactFlow>
  );
}

function Tools({ onTidy }: Pick<Props, "onTidy">) {
  const flow = useReactFlow();
  const zoom = (factor: number) => void flow.zoomTo(flow.getZoom() * factor);
  return (
    <Panel position="bottom-left" className="graph-tools">
      <IconButton icon="plus" className="small" label="Zoom in" onClick={() => zoom(1.4)} />
      <IconButton icon="minus" className="small" label="Zoom out" onClick={() => zoom(1 / 1.4)} />
      <IconButton
        icon="fit"
        className="small"
        label="Show all"
        onClick={() => void flow.fitView({ ...FIT, minZoom: 0.1 })}
      />
      <IconButton icon="catalog" className="small" label="Tidy up" onClick={onTidy} />
    </Panel>
  );
}

/** With room for the buttons below, and for ways that run beside the nodes. */
const FIT = { padding: { x: 0.1, top: 0.06, bottom: "64px" }, maxZoom: 1, minZoom: READABLE } as const;

/** What is selected by a key, a problem or by adding it may be beside what is shown. */
function useSelectionInView(nodes: CardNode[]) {
  const flow = useReactFlow();
  const store = useStoreApi();
  const chosen = nodes.find(({ selected }) => selected);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new selection moves the picture
  useEffect(() => {
    const { width, height } = store.getState();
    if (!chosen || width === 0) return;
    const now = flow.getViewport();
    const next = bringIn({ ...chosen.position, ...NODE, depth: 0, scope: false }, now, { width, height });
    if (next !== now) void flow.setViewport(next);
  }, [chosen?.id]);
}

/** What is in the middle stays there when the window, or the room beside the panel, gets another size. */
function useCentreKept() {
  const flow = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const before = useRef({ width, height });
  useEffect(() => {
    const old = before.current;
    before.current = { width, height };
    if (old.width === 0 || width === 0) return;
    const { x, y, zoom } = flow.getViewport();
    void flow.setViewport({ x: x + (width - old.width) / 2, y: y + (height - old.height) / 2, zoom });
  }, [flow, width, height]);
}
