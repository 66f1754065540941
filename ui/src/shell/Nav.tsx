import type { ApprovalPage, DeadLetterPage } from "../api/types";
import { useResource } from "../api/use-resource";
import { Icon, type IconName } from "../components/Icon";
import { Link, useLocation } from "./router";
import { usePoll } from "./use-poll";

/** One more is asked for, to tell whether there are. */
const COUNTED = 99;

interface Item {
  to: string;
  label: string;
  icon: IconName;
  count?: number;
  keys?: string;
}

export function Nav() {
  const { path } = useLocation();
  const approvals = useResource<ApprovalPage>(`/approvals?limit=${COUNTED + 1}`);
  const letters = useResource<DeadLetterPage>(`/dlq?limit=${COUNTED + 1}`);
  usePoll(() => {
    approvals.reload();
    letters.reload();
  }, 10_000);
  const items: Item[] = [
    { to: "/runs", label: "Runs", icon: "runs", keys: "g r" },
    { to: "/approvals", label: "Approvals", icon: "approvals", count: approvals.data?.approvals.length, keys: "g a" },
    { to: "/dlq", label: "Dead letters", icon: "letters", count: letters.data?.dead_letters.length, keys: "g d" },
    { to: "/queues", label: "Queues", icon: "queues", keys: "g q" },
    { to: "/definitions", label: "Definitions", icon: "definitions", keys: "g f" },
    { to: "/schedules", label: "Schedules", icon: "clock", keys: "g h" },
    { to: "/recordings", label: "Recordings", icon: "record", keys: "g e" },
    { to: "/catalog", label: "Catalog", icon: "catalog", keys: "g c" },
    { to: "/settings", label: "Settings", icon: "settings", keys: "g s" },
  ];
  return (
    <nav className="nav" aria-label="Main">
      <Link className="nav-brand" to="/runs" aria-label="Plait">
        <img src="/icon.svg" alt="" width={24} height={24} />
        <span>Plait</span>
      </Link>
      <ul>
        {items.map((item) => (
          <NavItem key={item.to} {...item} active={path === item.to || path.startsWith(`${item.to}/`)} />
        ))}
      </ul>
    </nav>
  );
}

function NavItem({ to, label, icon, count = 0, keys, active }: Item & { active: boolean }) {
  return (
    <li>
      <Link className="nav-item" to={to} aria-current={active ? "page" : undefined} title={`${label} (${keys})`}>
        <Icon name={icon} />
        <span className="nav-label">{label}</span>
        {count > 0 && (
          <span className="nav-count">
            {count > COUNTED ? `${COUNTED}+` : count}
            <span className="visually-hidden"> open</span>
          </span>
        )}
      </Link>
    </li>
  );
}
