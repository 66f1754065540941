/** The current user: fetched once; without a valid key the page redirects to the sign-in. */

import { createContext, type ReactNode, useContext, useEffect } from "react";
import { keepNamespace } from "../api/namespace";
import type { Me, Role } from "../api/types";
import { useResource } from "../api/use-resource";
import { Button } from "../components/Button";
import { ErrorBox } from "../components/ErrorBox";
import { Loading } from "./fallbacks";
import { location, navigate } from "./router";

const MeContext = createContext<Me | undefined>(undefined);

export function MeProvider({ children }: { children: ReactNode }) {
  const { data, error, reload } = useResource<Me>("/me", { namespace: null });
  const unknown = error?.status === 401;
  useEffect(() => {
    if (!unknown) return;
    const { path, search } = location();
    navigate(`/login?next=${encodeURIComponent(path + search)}`, { replace: true });
  }, [unknown]);
  if (data) {
    // A namespace saved with another key would be refused; users with only one namespace don't need a saved one.
    if (data.namespace !== "*") keepNamespace(undefined);
    return <MeContext value={data}>{children}</MeContext>;
  }
  if (error && !unknown) {
    return (
      <main className="bare">
        <ErrorBox error={error}>
          <Button onClick={reload}>Try again</Button>
        </ErrorBox>
      </main>
    );
  }
  return <Loading />;
}

export function useMe(): Me {
  const me = useContext(MeContext);
  if (!me) throw new Error("useMe outside of MeProvider");
  return me;
}

const RANK: { [role in Role]?: number } = { viewer: 1, operator: 2, editor: 3, admin: 9 };

/** Whether the caller's role allows what `role` may; an approver decides, and else only looks. */
export function allows(me: Me, role: "viewer" | "operator" | "editor" | "approver" | "admin"): boolean {
  if (me.role === "admin" || me.role === role) return true;
  if (role === "approver" || role === "admin") return false;
  const rank = me.role === "approver" ? 1 : (RANK[me.role] ?? 0);
  return rank >= (RANK[role] ?? 9);
}
