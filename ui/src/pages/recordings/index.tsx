/** Recordings of tool calls, and how one of them becomes a workflow. */

import type { PageProps } from "../../shell/page";
import { RecordingList } from "./RecordingList";
import { RecordingPage } from "./RecordingPage";
import "./recordings.css";
import "../definitions/definitions.css";

export default function Recordings({ params: { id } }: PageProps) {
  return id === undefined ? <RecordingList /> : <RecordingPage key={id} id={id} />;
}
