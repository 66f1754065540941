import { Link, useLocation } from "../../shell/router";

const TABS = [
  ["graph", "Graph"],
  ["timeline", "Timeline"],
  ["events", "Events"],
  ["logs", "Logs"],
  ["attributes", "Attributes"],
  ["plan", "Plan"],
  ["io", "Input and output"],
] as const;
/** Only of runs of goals. */
const GOALS: readonly string[] = ["attributes", "plan"];

export type Tab = (typeof TABS)[number][0];

export function tabOf(text: string | null): Tab {
  return TABS.find(([tab]) => tab === text)?.[0] ?? "graph";
}

export function TabBar({ tab, goals }: { tab: Tab; goals: boolean }) {
  const { path, search } = useLocation();
  const to = (next: Tab) => {
    const params = new URLSearchParams(search);
    params.set("tab", next);
    return `${path}?${params}`;
  };
  return (
    <nav className="tabs" aria-label="Pictures of the run">
      {TABS.filter(([name]) => goals || !GOALS.includes(name)).map(([name, label]) => (
        <Link key={name} to={to(name)} className="tab" aria-current={name === tab ? "page" : undefined}>
          {label}
        </Link>
      ))}
    </nav>
  );
}
