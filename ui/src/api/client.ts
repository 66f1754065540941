/** The one HTTP client: paths are relative to /api/v1; errors come as ApiProblem. */

import { currentNamespace, withQuery } from "./namespace";
import type { Json, Problem } from "./types";

export const BASE = "/api/v1";

export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  constructor(readonly problem: Problem) {
    super(problem.detail || problem.title);
  }
  get code(): string {
    return this.problem.code;
  }
  get status(): number {
    return this.problem.status;
  }
}

export interface CallOptions {
  /** Another namespace than the one the page looks at; `null` sends none. */
  namespace?: string | null;
  signal?: AbortSignal;
}

type Body = { [key: string]: Json | undefined } | Json;

export const api = {
  get: <T>(path: string, options?: CallOptions) => call<T>("GET", path, undefined, options),
  post: <T>(path: string, body: Body = {}, options?: CallOptions) => call<T>("POST", path, body, options),
  put: <T>(path: string, body: Body = {}, options?: CallOptions) => call<T>("PUT", path, body, options),
  delete: <T>(path: string, options?: CallOptions) => call<T>("DELETE", path, undefined, options),
};

/** The full address of an API path, with the namespace. */
export function address(path: string, namespace: string | null | undefined = undefined): string {
  const chosen = namespace === null ? undefined : (namespace ?? currentNamespace());
  return withQuery(BASE + path, { namespace: chosen });
}

async function call<T>(method: string, path: string, body: Body | undefined, options: CallOptions = {}): Promise<T> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  const token = csrf();
  if (method !== "GET" && token) headers["x-plait-csrf"] = token;
  let answer: Response;
  try {
    answer = await fetch(address(path, options.namespace), {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      signal: options.signal,
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiProblem(unreachable());
  }
  if (!answer.ok) throw new ApiProblem(await problemOf(answer));
  if (answer.status === 204) return undefined as T;
  return (await answer.json()) as T;
}

/** The cookie that proves that a request comes from this page. */
export function csrf(): string | undefined {
  const found = document.cookie.split("; ").find((cookie) => cookie.startsWith("plait_csrf="));
  return found && decodeURIComponent(found.slice("plait_csrf=".length));
}

export async function problemOf(answer: Response): Promise<Problem> {
  try {
    const problem = (await answer.json()) as Partial<Problem>;
    if (typeof problem.code === "string") return { ...bare(answer.status), ...problem } as Problem;
  } catch {
    // Not JSON: a proxy in between answered.
  }
  return bare(answer.status);
}

function bare(status: number): Problem {
  return {
    type: "urn:plait:error:http.unexpected",
    title: `Unexpected response (${status})`,
    status,
    detail: `The server answered with status ${status} and no explanation`,
    code: "http.unexpected",
  };
}

function unreachable(): Problem {
  return {
    type: "urn:plait:error:http.unreachable",
    title: "Can't reach the server",
    status: 0,
    detail: "Can't reach the server",
    code: "http.unreachable",
    why: "The server has stopped, or the network is down.",
    fix: "Start it again with plait dev or plait serve; this page reconnects by itself.",
  };
}
