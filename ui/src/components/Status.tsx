/** The one status language of all dialects: each status has a colour, a shape and a word. */

import type { ReactNode } from "react";
import type { NodeStatus, Run, ShownStatus } from "../api/types";
import "./status.css";

export type AnyStatus = NodeStatus | ShownStatus;

export const STATUS_WORDS: { [status in AnyStatus]: string } = {
  pending: "Pending",
  running: "Running",
  waiting: "Waiting",
  retrying: "Retrying",
  completed: "Completed",
  failed: "Failed",
  skipped: "Skipped",
  cancelled: "Cancelled",
  blocked: "Blocked",
};

const shapes: { [status in AnyStatus]: ReactNode } = {
  pending: <circle cx="8" cy="8" r="6" strokeDasharray="2.400 2.300" />,
  running: (
    <>
      <circle cx="8" cy="8" r="6" opacity="0.3" />
      <path className="st-spin" d="M8 2a6 6 0 0 1 6 6" />
    </>
  ),
  waiting: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 4.800V8l2.200 1.400" />
    </>
  ),
  retrying: <path d="M13.200 5.600A6 6 0 1 0 14 8M13.800 2.300v3.400h-3.400" />,
  completed: (
    <>
      <circle cx="8" cy="8" r="6.700" className="st-fill" />
      <path className="st-cut" d="m5 8.300 2.100 2.100L11 6.200" />
    </>
  ),
  failed: (
    <>
      <path className="st-fill" d="M5.200 1.300h5.600l3.900 3.900v5.600l-3.900 3.900H5.200l-3.900-3.900V5.200z" />
      <path className="st-cut" d="m5.700 5.700 4.600 4.600M10.300 5.700l-4.600 4.600" />
    </>
  ),
  skipped: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="m6 5.500 2.500 2.500L6 10.500M10.300 5.500v5" />
    </>
  ),
  cancelled: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="m4 12 8-8" />
    </>
  ),
  blocked: (
    <>
      <path className="st-fill" d="M8 .8 15.200 8 8 15.200.8 8z" />
      <path className="st-cut" d="M8 4.800v3.700M8 10.900v.2" />
    </>
  ),
};

interface StatusIconProps {
  status: AnyStatus;
  size?: number;
  /** Another word for it, where the shape means something else. */
  word?: string;
}

export function StatusIcon({ status, size = 14, word = STATUS_WORDS[status] }: StatusIconProps) {
  return (
    <svg
      className={`st st-${status}`}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.700"
      strokeLinecap="round"
      strokeLinejoin="round"
      role="img"
      aria-label={word}
    >
      {shapes[status]}
    </svg>
  );
}

/** Icon and word. */
export function Status({ status, title }: { status: AnyStatus; title?: string }) {
  return (
    <span className={`status st-${status}`} title={title}>
      <span aria-hidden="true" className="row">
        <StatusIcon status={status} />
      </span>
      {STATUS_WORDS[status]}
    </span>
  );
}

export function shownStatus({ status, phase, blocked }: Pick<Run, "status" | "phase" | "blocked">): ShownStatus {
  if (status !== "running") return status;
  if (blocked) return "blocked";
  return phase === "waiting" ? "waiting" : "running";
}
