import type { ApprovalStatus } from "../../api/types";
import { useQuery } from "../../shell/router";
import { STATUS_WORDS } from "./voting";

export type Shown = ApprovalStatus | "all";

const SHOWN: [Shown, string][] = [...(Object.entries(STATUS_WORDS) as [ApprovalStatus, string][]), ["all", "All"]];

/** The status that the page lists, from its address. */
export function useShown(): [Shown, (status: Shown) => void] {
  const [query, set] = useQuery();
  const found = SHOWN.find(([status]) => status === query.get("status"));
  return [found?.[0] ?? "open", (status) => set({ status: status === "open" ? undefined : status })];
}

export function StatusFilter({ value, onChange }: { value: Shown; onChange: (status: Shown) => void }) {
  return (
    <select
      className="input"
      aria-label="Filter by status"
      value={value}
      onChange={(event) => onChange(event.target.value as Shown)}
    >
      {SHOWN.map(([status, word]) => (
        <option key={status} value={status}>
          {word}
        </option>
      ))}
    </select>
  );
}
