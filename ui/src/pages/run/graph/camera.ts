/** What part of the graph is in view: all of it, or what matters; then whatever a person moves it to. */

import { getViewportForBounds, useReactFlow, type Viewport } from "@xyflow/react";
import { useCallback, useLayoutEffect, useRef, useState } from "react";
import type { NodeStatus, View } from "../../../api/types";
import type { Box, Layout, Room } from "./layout";
import { READABLE } from "./zoom";

const MARGIN = 24;
/** Where the buttons are. */
const BOTTOM = 56;

interface Scene {
  placed: Layout;
  view: Pick<View, "nodes">;
  room: Room;
}

export interface Camera {
  first: Viewport;
  showAll: () => void;
  zoom: (factor: number) => void;
  /** A person moved the picture: it no longer follows the run. */
  touched: () => void;
}

export function useCamera(scene: Scene, selected: string | undefined): Camera {
  const flow = useReactFlow();
  const moved = useRef(false);
  const latest = useRef(scene);
  latest.current = scene;
  const [first] = useState(() => shotOf(scene, READABLE));
  const { placed, room } = scene;

  // Follows the growth of a run, and of the room, until a person moves the picture.
  useLayoutEffect(() => {
    if (!moved.current) void flow.setViewport(shotOf({ ...latest.current, placed, room }, READABLE));
  }, [placed, room, flow]);
  // The selection, by a click, a key or a link, stays in view, also when the side panel takes up space.
  useLayoutEffect(() => {
    const box = selected === undefined ? undefined : placed.boxes.get(selected);
    if (!box) return;
    const now = flow.getViewport();
    const next = bringIn(box, now, room);
    if (next !== now) void flow.setViewport(next, { duration: still() ? 0 : 160 });
  }, [selected, room, placed, flow]);

  const touched = useCallback(() => {
    moved.current = true;
  }, []);
  const showAll = () => void flow.setViewport(shotOf(latest.current, 0), { duration: still() ? 0 : 200 });
  const zoom = (factor: number) => {
    touched();
    void flow.zoomTo(flow.getZoom() * factor, { duration: still() ? 0 : 120 });
  };
  return { first, showAll, zoom, touched };
}

function still(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** All of it, if that is readable; else what matters now, or the beginning. */
function shotOf({ placed, view, room }: Scene, least: number): Viewport {
  const { width, height, boxes, direction } = placed;
  const all = getViewportForBounds({ x: 0, y: 0, width, height }, room.width, room.height, 0.02, 1, 0.06);
  if (all.zoom >= least) return all;
  const known = view.nodes.filter((node) => boxes.has(node.id));
  const box = boxes.get((known.find((node) => NOW.has(node.status)) ?? known[0])?.id ?? "");
  const across = direction === "LR";
  return {
    x: framed(box ? box.x + box.width / 2 : 0, width, room.width, across ? 0.25 : 0.5, least),
    y: framed(box ? box.y + box.height / 2 : 0, height, room.height, across ? 0.5 : 0.25, least),
    zoom: least,
  };
}
const NOW: ReadonlySet<NodeStatus> = new Set(["failed", "blocked", "running", "retrying", "waiting"]);

/** Puts a point at a part of the room, but shows no more emptiness than there must be. */
function framed(point: number, length: number, room: number, part: number, zoom: number): number {
  if (length * zoom + 2 * MARGIN <= room) return (room - length * zoom) / 2;
  return Math.min(Math.max(room * part - point * zoom, room - length * zoom - MARGIN), MARGIN);
}

/** Moves as little as needed for the box to be in view; the same object if it is. From far away it comes nearer. */
export function bringIn(box: Box, now: Viewport, room: Room): Viewport {
  const zoom = Math.max(now.zoom, 0.4);
  if (zoom !== now.zoom) {
    const x = room.width / 2 - (box.x + box.width / 2) * zoom;
    return { x, y: room.height / 2 - (box.y + box.height / 2) * zoom, zoom };
  }
  const dx = shift(box.x * zoom + now.x, box.width * zoom, room.width, MARGIN);
  const dy = shift(box.y * zoom + now.y, box.height * zoom, room.height, BOTTOM);
  return dx === 0 && dy === 0 ? now : { x: now.x + dx, y: now.y + dy, zoom };
}

function shift(start: number, length: number, room: number, end: number): number {
  if (start < 0) return MARGIN - start;
  const over = start + length + end - room;
  // What is too long for the room shows its beginning.
  return over > 0 ? -Math.min(over, start - MARGIN) : 0;
}
