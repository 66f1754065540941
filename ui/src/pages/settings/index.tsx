/** The current user, appearance, the engines, and for admins: keys and the audit log. */

import { useState } from "react";
import { api } from "../../api/client";
import type { Me } from "../../api/types";
import { Button } from "../../components/Button";
import { Help } from "../../shell/Help";
import { allows, useMe } from "../../shell/me";
import { Page } from "../../shell/page";
import { navigate } from "../../shell/router";
import { type Theme, useTheme } from "../../shell/theme";
import { toastProblem } from "../../shell/toasts";
import { Audit } from "./Audit";
import { Engines } from "./Engines";
import { Keys } from "./Keys";
import { ROLE_WORDS } from "./roles";
import "./settings.css";

export default function Settings() {
  const me = useMe();
  const admin = allows(me, "admin");
  return (
    <Page title="Settings">
      <div className="settings-top">
        <Who me={me} />
        <Looks />
      </div>
      {me.namespace === "*" && <Engines />}
      {admin && <Keys open={me.mode === "open"} />}
      {admin && <Audit />}
    </Page>
  );
}

const MODES: { [mode in Me["mode"]]: string } = {
  open: "none: this server requires no sign-in",
  key: "API key",
  token: "token from your identity provider",
  session: "browser session",
};

function Who({ me }: { me: Me }) {
  const signOut = async () => {
    try {
      await api.delete("/session", { namespace: null });
      navigate("/login");
    } catch (error) {
      toastProblem(error);
    }
  };
  return (
    <section className="card pad stack" aria-labelledby="who">
      <h2 id="who">You</h2>
      <dl className="settings-facts">
        <dt>Name</dt>
        <dd>{me.name || "anonymous"}</dd>
        <dt>Role</dt>
        <dd>
          {me.role} <span className="faint">{ROLE_WORDS[me.role]}</span>
        </dd>
        <dt>Namespace</dt>
        <dd>{me.namespace === "*" ? "all" : me.namespace}</dd>
        <dt>Authentication</dt>
        <dd>{MODES[me.mode]}</dd>
        <dt>Server</dt>
        <dd>Plait {me.version}</dd>
      </dl>
      {me.mode === "session" && (
        <div>
          <Button onClick={() => void signOut()}>Sign out</Button>
        </div>
      )}
    </section>
  );
}

const THEMES: [Theme, string][] = [
  ["system", "Use system setting"],
  ["light", "Light"],
  ["dark", "Dark"],
];

function Looks() {
  const [theme, setTheme] = useTheme();
  const [help, setHelp] = useState(false);
  return (
    <section className="card pad stack" aria-labelledby="looks">
      <h2 id="looks">This browser</h2>
      <fieldset className="settings-themes">
        <legend>Theme</legend>
        {THEMES.map(([value, words]) => (
          <label key={value}>
            <input type="radio" name="theme" checked={theme === value} onChange={() => setTheme(value)} />
            {words}
          </label>
        ))}
      </fieldset>
      <div>
        <Button icon="keyboard" onClick={() => setHelp(true)}>
          Keyboard shortcuts
        </Button>
      </div>
      {help && <Help onClose={() => setHelp(false)} />}
    </section>
  );
}
