/** The graph's own part of the editor: palette, canvas, and the panel of what is selected. */

import { useEffect, useMemo, useState } from "react";
import type { Json } from "../../../api/types";
import { asProblem } from "../../../api/use-resource";
import { ErrorBox } from "../../../components/ErrorBox";
import { Loading } from "../../../shell/fallbacks";
import { useKey } from "../../../shell/keys";
import { type Arrow, nearest } from "../../run/graph/arrow-keys";
import { NODE } from "../../run/graph/layout";
import type { CanvasProps } from "../editors";
import { applyPatch } from "../json-patch";
import { itemOf } from "../problems";
import { Flow } from "./Flow";
import { cardsOf, linesOf, routeKey, type Selection } from "./flow";
import { GraphSettings } from "./GraphSettings";
import { NodePanel } from "./NodePanel";
import { addNode, connect, disconnect, removeNode, renameNode, setField } from "./operations";
import { Palette } from "./Palette";
import { RoutePanel } from "./RoutePanel";
import { nodeOf, type PlacedNode, type Route, routesOf } from "./source";
import { type Language, useLanguage } from "./use-language";
import { type Places, usePositions } from "./use-positions";
import "./graph-editor.css";

export default function GraphCanvas(props: CanvasProps) {
  const { language, error } = useLanguage();
  if (error) return <ErrorBox error={asProblem(error)} />;
  if (!language) return <Loading what="Loading node types" />;
  return <Canvas {...props} language={language} />;
}

function Canvas({ value: graph, onChange, problems, aim, memory, language }: CanvasProps & { language: Language }) {
  const [selection, setSelection] = useState<Selection>();
  const places = usePositions(memory, graph);
  const node = nodeOf(graph, selection && "node" in selection ? selection.node : undefined);
  const routes = useMemo(
    () => (selection && "route" in selection ? routesOf(graph).filter((one) => routeKey(one) === selection.route) : []),
    [graph, selection],
  );
  const select = (id: string | undefined) => setSelection(id === undefined ? undefined : { node: id });
  const add = (type: string, after: string | undefined): string => {
    const { graph: next, id } = addNode(graph, type, after);
    onChange(next);
    select(id);
    return id;
  };
  const remove = (id: string) => {
    onChange(removeNode(graph, id));
    select(undefined);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new aim selects
  useEffect(() => {
    const found = aim && itemOf(graph, "nodes", aim.pointer);
    if (found) select(found);
    else if (aim) setSelection(edgeAt(graph, aim.pointer));
  }, [aim]);
  useCanvasKeys(places, node?.id, select, () => {
    if (node) remove(node.id);
    else if (routes.length > 0) onChange(routes.toReversed().reduce(disconnect, graph));
  });
  return (
    <div className="ed-graph">
      <Palette types={language.types} onAdd={(type) => add(type, node?.id)} />
      <Flow
        nodes={useMemo(() => cardsOf(graph, places.at, selection, problems), [graph, places.at, selection, problems])}
        edges={useMemo(() => linesOf(graph, places.at, selection), [graph, places.at, selection])}
        onMove={places.move}
        onConnect={(source, target, rejected) => onChange(connect(graph, source, target, rejected))}
        onDrop={(type, at) => places.move(add(type, undefined), at, true)}
        onSelectNode={select}
        onSelectRoute={(route) => setSelection({ route })}
        onTidy={places.tidy}
      />
      <SelectedPanel
        graph={graph}
        node={node}
        routes={routes}
        language={language}
        problems={problems}
        places={places}
        onChange={onChange}
        onSelect={select}
        onRemove={remove}
      />
    </div>
  );
}

interface PanelProps extends Pick<CanvasProps, "onChange" | "problems"> {
  graph: Json;
  node: PlacedNode | undefined;
  routes: Route[];
  language: Language;
  places: Places;
  onSelect: (id: string | undefined) => void;
  onRemove: (id: string) => void;
}

function SelectedPanel({ graph, node, routes, places, onChange, onRemove, ...rest }: PanelProps) {
  const without = (route: Route) => onChange(disconnect(graph, route));
  if (node) {
    const rename = (to: string) => {
      places.rename(node.id, to);
      onChange(renameNode(graph, node.id, to));
      rest.onSelect(to);
    };
    return (
      <NodePanel
        key={node.id}
        {...rest}
        graph={graph}
        placed={node}
        onField={(field, value, mark) => onChange(setField(graph, node.id, field, value), mark)}
        onRename={rename}
        onConnect={(target) => onChange(connect(graph, node.id, target))}
        onDisconnect={without}
        onRemove={() => onRemove(node.id)}
      />
    );
  }
  if (routes.length === 0) return <GraphSettings graph={graph} onChange={onChange} {...rest} />;
  const setCondition = (route: Route, condition: string | undefined) =>
    onChange(withCondition(graph, route, condition), `if ${route.pointer}`);
  return <RoutePanel graph={graph} routes={routes} onCondition={setCondition} onDisconnect={without} {...rest} />;
}

function edgeAt(graph: Json, pointer: string): Selection {
  const found = routesOf(graph).find((route) => pointer === route.pointer || pointer.startsWith(`${route.pointer}/`));
  return found && { route: routeKey(found) };
}

function withCondition(graph: Json, { pointer }: Route, condition: string | undefined): Json {
  const path = `${pointer}/condition`;
  return applyPatch(graph, [condition === undefined ? { op: "remove", path } : { op: "add", path, value: condition }]);
}

function useCanvasKeys(
  { at }: Places,
  selected: string | undefined,
  select: (id: string | undefined) => void,
  remove: () => void,
) {
  const group = "Editor";
  const walk = (arrow: Arrow) => () => {
    const boxes = new Map([...at].map(([id, point]) => [id, { ...point, ...NODE, depth: 0, scope: false }]));
    const next = nearest(boxes, selected, arrow);
    if (next !== undefined) select(next);
  };
  useKey("ArrowLeft", walk("ArrowLeft"), { label: "Node to the left", group });
  useKey("ArrowRight", walk("ArrowRight"), { label: "Node to the right", group });
  useKey("ArrowUp", walk("ArrowUp"), { label: "Node above", group });
  useKey("ArrowDown", walk("ArrowDown"), { label: "Node below", group });
  useKey("Delete", remove, { label: "Delete what is selected", group });
  useKey("Backspace", remove, { group });
  useKey("Escape", () => select(undefined), { label: "Select nothing", group });
}
