/** The frame of every page: navigation, top bar, main. */

import { type ReactNode, useState } from "react";
import { Help } from "./Help";
import { useKey } from "./keys";
import { Nav } from "./Nav";
import { navigate } from "./router";
import { TopBar } from "./TopBar";
import "./layout.css";

export function Layout({ children }: { children: ReactNode }) {
  const [help, setHelp] = useState(false);
  useGlobalKeys(() => setHelp(true));
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Nav />
      <div className="shell-body">
        <TopBar onHelp={() => setHelp(true)} />
        <main id="main" className="main" tabIndex={-1}>
          {children}
        </main>
      </div>
      {help && <Help onClose={() => setHelp(false)} />}
    </div>
  );
}

function useGlobalKeys(openHelp: () => void) {
  const everywhere = { group: "General", global: true };
  useKey("?", openHelp, { ...everywhere, label: "Show keyboard shortcuts" });
  useKey("/", focusSearch, { ...everywhere, label: "Search" });
  useKey("n", () => navigate("/runs/new"), { ...everywhere, label: "New run" });
  useKey("g r", () => navigate("/runs"), { ...everywhere, label: "Go to runs" });
  useKey("g a", () => navigate("/approvals"), { ...everywhere, label: "Go to approvals" });
  useKey("g d", () => navigate("/dlq"), { ...everywhere, label: "Go to dead letters" });
  useKey("g q", () => navigate("/queues"), { ...everywhere, label: "Go to queues" });
  useKey("g f", () => navigate("/definitions"), { ...everywhere, label: "Go to definitions" });
  useKey("g h", () => navigate("/schedules"), { ...everywhere, label: "Go to schedules" });
  useKey("g e", () => navigate("/recordings"), { ...everywhere, label: "Go to recordings" });
  useKey("g c", () => navigate("/catalog"), { ...everywhere, label: "Go to the catalog" });
  useKey("g s", () => navigate("/settings"), { ...everywhere, label: "Go to settings" });
}

/** The page's own search field, or the runs' when it has none. */
function focusSearch() {
  const field = document.querySelector<HTMLInputElement>("input[type=search]");
  if (field) {
    field.focus();
    field.select();
  } else {
    navigate("/runs?focus=search");
  }
}
