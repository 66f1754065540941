import { useConnection } from "../api/connection";
import { currentNamespace, keepNamespace } from "../api/namespace";
import type { Connection } from "../api/sse";
import { IconButton } from "../components/Button";
import { useMe } from "./me";
import { useQuery } from "./router";
import { type Theme, useTheme } from "./theme";

const NEXT: { [theme in Theme]: Theme } = { system: "dark", dark: "light", light: "system" };
const THEME_ICON = { system: "system", dark: "moon", light: "sun" } as const;

export function TopBar({ onHelp }: { onHelp: () => void }) {
  const [theme, setTheme] = useTheme();
  return (
    <header className="topbar">
      <NamespacePicker />
      <div className="grow" />
      <LiveDot />
      <IconButton
        icon={THEME_ICON[theme]}
        label={`Theme: ${theme}. Switch to ${NEXT[theme]}`}
        onClick={() => setTheme(NEXT[theme])}
      />
      <IconButton icon="keyboard" label="Keyboard shortcuts (?)" onClick={onHelp} />
      <Who />
    </header>
  );
}

function NamespacePicker() {
  const me = useMe();
  const [, setQuery] = useQuery();
  const all = me.namespace === "*";
  const chosen = currentNamespace();
  const known = new Set(me.namespaces);
  if (chosen) known.add(chosen);
  const shown = chosen ?? (all ? "default" : me.namespace);
  known.add(shown);
  if (!all || known.size < 2) {
    return (
      <span className="topbar-ns">
        <span className="faint">namespace</span> {shown}
      </span>
    );
  }
  const choose = (namespace: string) => {
    keepNamespace(namespace);
    setQuery({ ns: namespace }, { push: true });
  };
  return (
    <label className="topbar-ns">
      <span className="faint">namespace</span>
      <select value={shown} onChange={(event) => choose(event.target.value)}>
        {[...known].sort().map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

const WORDS: { [state in Connection]: string } = {
  connecting: "Connecting",
  live: "Live",
  lost: "Connection lost, reconnecting",
  ended: "Not live",
};

function LiveDot() {
  const state = useConnection();
  if (state === undefined) return null;
  return (
    <span className={`live ${state}`} role="status">
      <span className="live-dot" aria-hidden="true" />
      <span className="live-word">{WORDS[state]}</span>
    </span>
  );
}

function Who() {
  const me = useMe();
  if (me.mode === "open") return <span className="topbar-who faint">open</span>;
  return (
    <span className="topbar-who" title={`Signed in as ${me.name}`}>
      {me.name} <span className="faint">{me.role}</span>
    </span>
  );
}
