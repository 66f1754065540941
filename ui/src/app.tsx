/** Which page a path shows. Pages are loaded when first opened. */

import { type ComponentType, useEffect } from "react";
import { ErrorBoundary } from "./shell/ErrorBoundary";
import { Loading, NotFound } from "./shell/fallbacks";
import { Layout } from "./shell/Layout";
import { type Lazy, lazy } from "./shell/lazy";
import { MeProvider } from "./shell/me";
import type { PageProps } from "./shell/page";
import { location, match, navigate, useLocation } from "./shell/router";
import { Toasts } from "./shell/toasts";

interface Route {
  pattern: string;
  page: Lazy<PageProps>;
  /** Works without signing in, and without the navigation around it. */
  bare: boolean;
}

function route(
  pattern: string,
  load: () => Promise<{ default: ComponentType<PageProps> }>,
  { bare = false } = {},
): Route {
  return { pattern, page: lazy(load), bare };
}

const routes: readonly Route[] = [
  route("/runs", () => import("./pages/runs")),
  route("/runs/new", () => import("./pages/start")),
  route("/runs/:id", () => import("./pages/run")),
  route("/compare", () => import("./pages/compare")),
  route("/approvals", () => import("./pages/approvals")),
  route("/approvals/:id", () => import("./pages/approvals")),
  route("/approve/:token", () => import("./pages/approval-link"), { bare: true }),
  route("/dlq", () => import("./pages/dead-letters")),
  route("/queues", () => import("./pages/queues")),
  route("/definitions", () => import("./pages/definitions")),
  route("/definitions/:name", () => import("./pages/definitions")),
  route("/definitions/:name/edit", () => import("./pages/editor")),
  route("/runs/:id/edit", () => import("./pages/editor")),
  route("/new/:dialect", () => import("./pages/editor")),
  route("/schedules", () => import("./pages/schedules")),
  route("/schedules/:name", () => import("./pages/schedules")),
  route("/schedules/:name/edit", () => import("./pages/schedule-form")),
  route("/new-schedule", () => import("./pages/schedule-form")),
  route("/recordings", () => import("./pages/recordings")),
  route("/recordings/:id", () => import("./pages/recordings")),
  route("/catalog", () => import("./pages/catalog")),
  route("/settings", () => import("./pages/settings")),
  route("/login", () => import("./pages/login"), { bare: true }),
];

// The code of the first page is fetched in parallel with the current user.
void routes.find(({ pattern }) => match(pattern, location().path))?.page.preload();

export function App() {
  return (
    <>
      <ErrorBoundary>
        <Routes />
      </ErrorBoundary>
      <Toasts />
    </>
  );
}

function Routes() {
  const { path } = useLocation();
  useEffect(() => {
    if (path === "/") navigate("/runs", { replace: true });
  }, [path]);
  for (const { pattern, page: Page, bare } of routes) {
    const params = match(pattern, path);
    if (!params) continue;
    const shown = <Page params={params} />;
    if (bare) return shown;
    return (
      <MeProvider>
        <Layout>
          <ErrorBoundary key={path}>{shown}</ErrorBoundary>
        </Layout>
      </MeProvider>
    );
  }
  return path === "/" ? <Loading /> : <NotFound />;
}
