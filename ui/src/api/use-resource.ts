/** Reading a resource of the API in a component. */

import { useCallback, useEffect, useRef, useState } from "react";
import { ApiProblem, address, api, type CallOptions } from "./client";

export interface Resource<T> {
  data: T | undefined;
  error: ApiProblem | undefined;
  loading: boolean;
  /** Asks again; the old data stays until the answer is there. */
  reload: () => void;
}

/** Loads `path` (none: nothing) and again when it or the namespace changes. */
export function useResource<T>(path: string | undefined, options: Pick<CallOptions, "namespace"> = {}): Resource<T> {
  const url = path === undefined ? undefined : address(path, options.namespace);
  const [state, setState] = useState<{ url?: string; data?: T; error?: ApiProblem; loading: boolean }>({
    loading: url !== undefined,
  });
  const [turn, setTurn] = useState(0);
  const asked = useRef({ path, namespace: options.namespace });
  asked.current = { path, namespace: options.namespace };

  // biome-ignore lint/correctness/useExhaustiveDependencies: `turn` asks again, `url` stands for path and namespace
  useEffect(() => {
    if (url === undefined || asked.current.path === undefined) {
      setState({ loading: false });
      return;
    }
    const abort = new AbortController();
    setState((old) => (old.url === url ? { ...old, loading: true } : { url, loading: true }));
    api
      .get<T>(asked.current.path, { namespace: asked.current.namespace, signal: abort.signal })
      .then((data) => setState({ url, data, loading: false }))
      .catch((error: unknown) => {
        if (abort.signal.aborted) return;
        setState((old) => ({ ...old, url, error: asProblem(error), loading: false }));
      });
    return () => abort.abort();
  }, [url, turn]);

  const reload = useCallback(() => setTurn((n) => n + 1), []);
  const current = state.url === url;
  return {
    data: current ? state.data : undefined,
    error: current ? state.error : undefined,
    loading: current ? state.loading : url !== undefined,
    reload,
  };
}

/** Anything thrown, as a problem that can be shown. */
export function asProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new ApiProblem({
    type: "urn:plait:error:ui.unexpected",
    title: "Unexpected error in this page",
    status: 0,
    detail: text,
    code: "ui.unexpected",
    why: text,
    fix: "Reload the page. If the error persists, report it with this message.",
  });
}
