/** Runs that are started again and again: all of them, or one. */

import type { PageProps } from "../../shell/page";
import { ScheduleList } from "./ScheduleList";
import { ScheduleView } from "./ScheduleView";
import "./schedules.css";

export default function Schedules({ params }: PageProps) {
  return params.name === undefined ? <ScheduleList /> : <ScheduleView key={params.name} name={params.name} />;
}
