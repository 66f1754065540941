/**
 * The dialects whose definitions can be edited by hand, and how they are drawn. Everything else of the editor (versions,
 * saving, differences, JSON, problems) is the same for all.
 */

import type { Json } from "../../api/types";
import { type Lazy, lazy } from "../../shell/lazy";
import type { Problem } from "./problems";

export interface CanvasProps {
  value: Json;
  onChange: (value: Json, mark?: string) => void;
  problems: Problem[];
  /** The problem that a person wants to see, by its pointer; a new object for each time. */
  aim: { pointer: string } | undefined;
  /** Under which what belongs to the picture alone is kept. */
  memory: string;
  /** Of the definition; none if it is new or a run's. */
  name: string | undefined;
}

export interface DifferenceProps {
  before: Json;
  after: Json;
}

export interface DialectEditor {
  Canvas: Lazy<CanvasProps>;
  /** Two documents as one picture. */
  Difference: Lazy<DifferenceProps>;
  /** What a new document begins with. */
  first: Json;
  /** What it is called. */
  noun: string;
  /** What the view that is drawn is called. */
  view: string;
  /** Where the API has that of a run, below the run; none if it can't be changed there. */
  ofRun?: string;
}

const editors: { [dialect: string]: DialectEditor } = {
  graph: {
    Canvas: lazy(() => import("./graph/GraphCanvas")),
    Difference: lazy(() => import("./graph/GraphDifference")),
    first: { nodes: [], edges: [] },
    noun: "graph",
    view: "Graph",
    ofRun: "graph",
  },
  refs: {
    Canvas: lazy(() => import("./refs/StepsCanvas")),
    Difference: lazy(() => import("./refs/StepsDifference")),
    first: { steps: [] },
    noun: "workflow of steps",
    view: "Steps",
  },
  afl: {
    Canvas: lazy(() => import("./source/SourceCanvas")),
    Difference: lazy(() => import("./source/SourceDifference")),
    first: { source: "namespace my {\n    workflow Hello(name: String) => (text: String) andThen {\n    }\n}\n" },
    noun: "AFL program",
    view: "Source",
  },
};

export function editorOf(dialect: string | undefined): DialectEditor | undefined {
  return dialect === undefined ? undefined : editors[dialect];
}

export function editable(): [dialect: string, editor: DialectEditor][] {
  return Object.entries(editors);
}
