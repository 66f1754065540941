/** The live graph of a run, or of a catalog. Statuses change in place; only a change of structure or of folds lays it out anew. */

import { Background, BackgroundVariant, Panel, ReactFlow, ReactFlowProvider } from "@xyflow/react";
import { type ReactNode, type RefObject, useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import { IconButton } from "../../../components/Button";
import { useKey } from "../../../shell/keys";
import { type Arrow, nearest } from "./arrow-keys";
import { useCamera } from "./camera";
import { ArrowHead, Edges } from "./Edges";
import { flowNodes } from "./flow";
import { type Box, type Layout, layout, type Room } from "./layout";
import { buildTree, type GraphView, structureKey, tally } from "./model";
import { type CardNode, ScopeBox } from "./NodeCard";
import { type NodeRenderer, runNodeRenderer } from "./node-renderer";
import { useFolds } from "./use-folds";
import { READABLE, useZoomStyle } from "./zoom";
import "@xyflow/react/dist/base.css";
import "./graph.css";

export interface GraphProps {
  view: GraphView;
  selected: string | undefined;
  onSelect: (id: string | undefined) => void;
  /** What a click does beyond selecting. */
  onPick?: (id: string) => void;
  look?: NodeRenderer;
  label?: string;
  /** What is shown while there are no nodes. */
  empty?: ReactNode;
}

export default function Graph(props: GraphProps) {
  const box = useRef<HTMLElement>(null);
  const room = useRoom(box);
  // Straight to the element: a render of the page for each start of a drag would be felt.
  const moving = useCallback((yes: boolean) => box.current?.classList.toggle("moving", yes), []);
  const empty = props.view.nodes.length === 0;
  return (
    <section ref={box} className="graph" aria-label={props.label ?? "Graph of the run"}>
      {empty && props.empty}
      {!empty && room && (
        // With its size known from the start, the canvas never draws what is out of view.
        <ReactFlowProvider zIndexMode="manual" initialWidth={room.width} initialHeight={room.height}>
          <Canvas {...props} box={box} room={room} moving={moving} />
        </ReactFlowProvider>
      )}
    </section>
  );
}

/** The room there is. Watched rather than asked for, as asking makes the browser lay out the page. */
function useRoom(box: RefObject<HTMLElement | null>): Room | undefined {
  const [room, setRoom] = useState<Room>();
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    setRoom({ width: element.clientWidth, height: element.clientHeight });
    const observer = new ResizeObserver(([entry]) => {
      if (!entry) return;
      const { width, height } = entry.contentRect;
      setRoom((old) => (old?.width === width && old.height === height ? old : { width, height }));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return room;
}

interface CanvasProps extends GraphProps {
  box: RefObject<HTMLElement | null>;
  room: Room;
  moving: (yes: boolean) => void;
}

function Canvas({ view, selected, onSelect, onPick, look = runNodeRenderer, box, room, moving }: CanvasProps) {
  useZoomStyle(box);
  const nodeTypes = useMemo(() => ({ card: look.card, scope: ScopeBox }), [look]);
  const { folded, fold, foldAll } = useFolds(view, selected);
  const placed = useLayout(view, folded, room);
  const insides = useMemo(() => tally(view), [view]);
  const nodes = useKept<CardNode[]>((before) =>
    flowNodes({ view, layout: placed, selected, insides, onFold: fold, look }, before),
  );
  const { showAll, zoom, first, touched } = useCamera({ placed, view, room }, selected);
  useGraphKeys({ view, selected, boxes: placed.boxes, fold, showAll, onSelect });
  return (
    <ReactFlow
      nodes={nodes}
      nodeTypes={nodeTypes}
      onNodeClick={(_, node) => (onPick ?? onSelect)(node.id)}
      onPaneClick={() => onSelect(undefined)}
      onNodesChange={(changes) => {
        // Enter or space on a focused node.
        for (const change of changes) if (change.type === "select" && change.selected) onSelect(change.id);
      }}
      defaultViewport={first}
      onMoveStart={() => moving(true)}
      onMove={(event) => event && touched()}
      onMoveEnd={() => moving(false)}
      nodesDraggable={false}
      nodesConnectable={false}
      deleteKeyCode={null}
      multiSelectionKeyCode={null}
      selectionKeyCode={null}
      onlyRenderVisibleElements
      zIndexMode="manual"
      minZoom={0.05}
      maxZoom={1.5}
      zoomOnDoubleClick={false}
    >
      <ArrowHead />
      <Edges view={view} layout={placed} selected={selected} />
      <Background variant={BackgroundVariant.Dots} gap={20} size={1} />
      <Panel position="bottom-left" className="graph-tools">
        <IconButton icon="plus" className="small" label="Zoom in" onClick={() => zoom(1.4)} />
        <IconButton icon="minus" className="small" label="Zoom out" onClick={() => zoom(1 / 1.4)} />
        <IconButton icon="fit" className="small" label="Show all (0)" onClick={showAll} />
        {insides.size > 0 && (
          <>
            <IconButton icon="fold" className="small" label="Fold all" onClick={() => foldAll([...insides.keys()])} />
            <IconButton icon="unfold" className="small" label="Unfold all" onClick={() => foldAll([])} />
          </>
        )}
      </Panel>
    </ReactFlow>
  );
}

/** A new room alone moves nothing: people know where things stand. */
function useLayout(view: GraphView, folded: ReadonlySet<string>, room: Room): Layout {
  const key = structureKey(view, folded);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for what the layout depends on
  return useMemo(() => layout(buildTree(view, folded), room, READABLE), [key]);
}

/** The value made from the one before, so that unchanged parts can be kept. */
function useKept<T extends unknown[]>(make: (before: T) => T): T {
  const kept = useRef<T>([] as unknown as T);
  const next = make(kept.current);
  const same = next.length === kept.current.length && next.every((one, index) => one === kept.current[index]);
  if (!same) kept.current = next;
  return kept.current;
}

interface KeyProps extends GraphProps {
  boxes: ReadonlyMap<string, Box>;
  fold: (id: string) => void;
  showAll: () => void;
}

function useGraphKeys({ view, selected, boxes, fold, showAll, onSelect }: KeyProps) {
  const group = "Graph";
  const walk = (arrow: Arrow) => () => {
    const next = nearest(boxes, selected, arrow);
    if (next !== undefined) onSelect(next);
  };
  useKey("ArrowLeft", walk("ArrowLeft"), { label: "Node to the left", group });
  useKey("ArrowRight", walk("ArrowRight"), { label: "Node to the right", group });
  useKey("ArrowUp", walk("ArrowUp"), { label: "Node above", group });
  useKey("ArrowDown", walk("ArrowDown"), { label: "Node below", group });
  useKey("0", showAll, { label: "Show all", group });
  useKey(
    "f",
    () => {
      const node = view.nodes.find((one) => one.id === selected);
      const scope = view.nodes.some((one) => one.parent === selected) ? selected : node?.parent;
      if (scope === undefined) return;
      fold(scope);
      onSelect(scope);
    },
    { label: "Fold or unfold the scope", group },
  );
}
