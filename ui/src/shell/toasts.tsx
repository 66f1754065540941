/** Short notes at the edge of the page: what an action did, or why it did not. */

import { useSyncExternalStore } from "react";
import { ApiProblem } from "../api/client";
import { Icon } from "../components/Icon";
import "./toasts.css";

export interface Toast {
  kind: "ok" | "error" | "info";
  text: string;
  /** A second line: why, and what to do. */
  more?: string;
  code?: string;
}
interface Shown extends Toast {
  key: number;
}

let shown: readonly Shown[] = [];
let next = 1;
const listeners = new Set<() => void>();

function change(toasts: readonly Shown[]) {
  shown = toasts;
  for (const listener of listeners) listener();
}

export function toast(one: Toast): void {
  const key = next++;
  change([...shown.slice(-3), { ...one, key }]);
  window.setTimeout(() => dismiss(key), one.kind === "error" ? 12_000 : 5000);
}

export function toastProblem(error: unknown): void {
  if (!(error instanceof ApiProblem)) {
    toast({ kind: "error", text: error instanceof Error ? error.message : String(error) });
    return;
  }
  const { title, code, why, fix } = error.problem;
  toast({ kind: "error", text: title, code, more: [why, fix].filter(Boolean).join(". ") });
}

function dismiss(key: number) {
  change(shown.filter((toast) => toast.key !== key));
}

export function Toasts() {
  const toasts = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
  );
  return (
    <section className="toasts" aria-label="Notifications" aria-live="polite">
      {toasts.map(({ key, kind, text, more, code }) => (
        <div key={key} className={`toast ${kind}`} role={kind === "error" ? "alert" : "status"}>
          <Icon name={kind === "error" ? "warning" : kind === "ok" ? "check" : "info"} />
          <div className="grow">
            <div>{text}</div>
            {more && <div className="muted">{more}</div>}
            {code && <code className="faint">{code}</code>}
          </div>
          <button type="button" className="toast-close" aria-label="Dismiss" onClick={() => dismiss(key)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </section>
  );
}
