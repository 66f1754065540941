import type { ReactNode } from "react";
import type { RunStatus } from "../../api/types";
import { Empty } from "../../components/Empty";

interface NoNodesProps {
  status: RunStatus;
  /** What will be shown, as long as the run goes on. */
  children: ReactNode;
}

/** Shown for a run without nodes, in the place of its graph or its timeline. */
export function NoNodes({ status, children }: NoNodesProps) {
  if (status !== "running") return <Empty title="No steps">The run ended without a step.</Empty>;
  return (
    <Empty icon="clock" title="Not started yet">
      {children}
    </Empty>
  );
}
