/** Signing in: an API key becomes browser session. */

import { useState } from "react";
import { api } from "../../api/client";
import { keepNamespace } from "../../api/namespace";
import type { Me } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { Button } from "../../components/Button";
import { ErrorBox } from "../../components/ErrorBox";
import { TextField } from "../../components/Field";
import { useTitle } from "../../shell/page";
import { navigate, useQuery } from "../../shell/router";
import { safeNext } from "./next";
import "./login.css";

export default function Login() {
  useTitle("Sign in");
  const [query] = useQuery();
  const [key, setKey] = useState("");
  const { busy, error, send } = useRequest();
  const signIn = async () => {
    await api.post<Me>("/session", { key: key.trim() }, { namespace: null });
    // The namespace that someone else looked at here may not be this key's.
    keepNamespace(undefined);
    navigate(safeNext(query.get("next")), { replace: true });
  };
  return (
    <main className="login">
      <form
        className="card login-card stack"
        onSubmit={(event) => {
          event.preventDefault();
          send(signIn);
        }}
      >
        <header className="row">
          <img src="/icon.svg" alt="" width={28} height={28} />
          <h1>Sign in to Plait</h1>
        </header>
        <TextField
          label="API key"
          hint="Starts a session in this browser. The key itself is not stored."
          type="password"
          autoComplete="current-password"
          placeholder="plait_…"
          autoFocus
          required
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
        {error && <ErrorBox error={error} title="Sign-in failed" />}
        <Button type="submit" look="primary" busy={busy} disabled={key.trim() === ""}>
          Sign in
        </Button>
        <Where />
      </form>
    </main>
  );
}

function Where() {
  return (
    <details className="muted">
      <summary>Where do I get a key?</summary>
      <div className="stack tight login-help">
        <p>An admin can create one under Settings. Create the first one on the server:</p>
        <code className="login-command">plait keys create me --role admin -n '*'</code>
        <p>It is shown only once. plait dev on your own machine needs no key.</p>
      </div>
    </details>
  );
}
