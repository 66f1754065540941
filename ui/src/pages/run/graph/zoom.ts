/**
 * How large the graph is drawn, and what of it can be read then. Text is never smaller than 11 px where the page opens:
 * from afar a card shows its name alone, in larger letters.
 */

import { type ReactFlowState, useStore } from "@xyflow/react";
import { type RefObject, useLayoutEffect } from "react";

/** The page opens no smaller than this: a big picture begins at its start instead. */
export const READABLE = 0.55;
/** From here on the small text of a card (12 px) can be read. */
const NEAR = 0.92;
/** Below this the names of edges would cover each other. */
const LABELLED = 0.7;
/** Below this a card is a spot of colour with a name; hundreds are in view. */
const TINY = 0.45;

export type Nearness = "near" | "far" | "tiny";

export function useNearness(): Nearness {
  return useStore(nearness);
}

function nearness({ transform: [, , zoom] }: ReactFlowState): Nearness {
  return zoom >= NEAR ? "near" : zoom >= TINY ? "far" : "tiny";
}

/** Tells the stylesheet, in steps: each costs a layout of the text. */
export function useZoomStyle(box: RefObject<HTMLElement | null>): void {
  const zoom = useStore(({ transform }) => Math.max(Math.round(transform[2] * 50) / 50, 0.02));
  useLayoutEffect(() => {
    box.current?.style.setProperty("--zoom", String(zoom));
    box.current?.classList.toggle("unlabelled", zoom < LABELLED);
  }, [box, zoom]);
}
