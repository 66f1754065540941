/** The tabs of a run: what every run has, and what this one brings along. */

import { Link, useLocation } from "../../shell/router";
import type { Details } from "./details/details";

const TABS = [
  ["graph", "Graph"],
  ["timeline", "Timeline"],
  ["events", "Events"],
  ["logs", "Logs"],
  ["agents", "Agents"],
  ["steps", "Steps"],
  ["tree", "Step tree"],
  ["path", "Path"],
  ["changes", "Changes"],
  ["attributes", "Attributes"],
  ["plan", "Plan"],
  ["details", "Details"],
  ["io", "Input and output"],
] as const;

export type Tab = (typeof TABS)[number][0];

export function tabOf(text: string | null): Tab {
  return TABS.find(([tab]) => tab === text)?.[0] ?? "graph";
}

export function hasTab(tab: Tab, details: Details): boolean {
  const { agents, attributes, plan, plan_diff, other, flow, revision, steps, tree } = details;
  switch (tab) {
    case "agents":
      return agents === true;
    case "steps":
      return steps !== undefined;
    case "tree":
      return tree !== undefined;
    case "path":
      return flow !== undefined;
    case "changes":
      return revision !== undefined;
    case "attributes":
      return attributes !== undefined;
    case "plan":
      return plan !== undefined || plan_diff !== undefined;
    case "details":
      return other !== undefined;
    default:
      return true;
  }
}

export function TabBar({ tab, details }: { tab: Tab; details: Details }) {
  const { path, search } = useLocation();
  const to = (next: Tab) => {
    const params = new URLSearchParams(search);
    params.set("tab", next);
    return `${path}?${params}`;
  };
  return (
    <nav className="tabs" aria-label="Run tabs">
      {TABS.filter(([name]) => hasTab(name, details)).map(([name, label]) => (
        <Link key={name} to={to(name)} className="tab" aria-current={name === tab ? "page" : undefined}>
          {label}
        </Link>
      ))}
    </nav>
  );
}
