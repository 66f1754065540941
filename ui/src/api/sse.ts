/**
 * Server-sent events over fetch. EventSource can't show a problem's body, nor stop at a refusal, nor set
 * Last-Event-ID on a first connect; so the stream is read by hand. Every connection ends in one of: the server's
 * `end` event, a refusal that trying again won't change, or a retry with growing pauses.
 */

import { ApiProblem, address, problemOf } from "./client";

export type Connection = "connecting" | "live" | "lost" | "ended";

export interface Message {
  event: string;
  data: string;
  id?: string;
}

export interface StreamHandlers {
  message: (message: Message) => void;
  connection: (state: Connection) => void;
  problem: (problem: ApiProblem) => void;
}

const PAUSES = [500, 1000, 2000, 4000, 8000];
/** The server sends a sign of life every 15 s; after three are missed the connection is dead. */
const SILENCE = 45_000;

/** Keeps a stream open until the returned function is called or the server says `end`. */
export function openStream(path: string, from: string | undefined, handlers: StreamHandlers): () => void {
  const abort = new AbortController();
  void keep(path, from, handlers, abort.signal);
  return () => abort.abort();
}

async function keep(path: string, from: string | undefined, handlers: StreamHandlers, signal: AbortSignal) {
  let last = from;
  let failures = 0;
  handlers.connection("connecting");
  while (!signal.aborted) {
    try {
      const ended = await once(path, last, signal, {
        open: () => {
          failures = 0;
          handlers.connection("live");
        },
        message: (message) => {
          if (message.id !== undefined) last = message.id;
          handlers.message(message);
        },
      });
      if (ended) {
        handlers.connection("ended");
        return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiProblem && final(error.status)) {
        handlers.problem(error);
        handlers.connection("ended");
        return;
      }
    }
    if (signal.aborted) return;
    handlers.connection("lost");
    await pause(PAUSES[Math.min(failures++, PAUSES.length - 1)] ?? 8000, signal);
  }
}

function final(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

async function once(
  path: string,
  last: string | undefined,
  outer: AbortSignal,
  on: { open: () => void; message: (message: Message) => void },
): Promise<boolean> {
  const silence = new AbortController();
  const signal = AbortSignal.any([outer, silence.signal]);
  let watch = setTimeout(() => silence.abort(), SILENCE);
  try {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (last !== undefined) headers["last-event-id"] = last;
    const answer = await fetch(address(path), { headers, credentials: "same-origin", signal });
    if (!answer.ok || !answer.body) throw new ApiProblem(await problemOf(answer));
    on.open();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    const parse = parser();
    let ended = false;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return ended;
      clearTimeout(watch);
      watch = setTimeout(() => silence.abort(), SILENCE);
      for (const message of parse(value)) {
        on.message(message);
        ended ||= message.event === "end";
      }
    }
  } finally {
    clearTimeout(watch);
  }
}

/** Text in, whole messages out; keeps what is not yet whole. */
export function parser(): (text: string) => Message[] {
  let rest = "";
  let event = "message";
  let data: string[] = [];
  let id: string | undefined;
  return (text) => {
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    const found: Message[] = [];
    for (const line of lines) {
      if (line === "") {
        if (data.length) found.push({ event, data: data.join("\n"), id });
        event = "message";
        data = [];
        continue;
      }
      const colon = line.indexOf(":");
      if (colon === 0) continue;
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "data") data.push(value);
      else if (field === "event") event = value;
      else if (field === "id") id = value;
    }
    return found;
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(finish, ms);
    function finish() {
      clearTimeout(timer);
      window.removeEventListener("online", finish);
      signal.removeEventListener("abort", finish);
      done();
    }
    // Back on the network: no need to wait out the pause.
    window.addEventListener("online", finish);
    signal.addEventListener("abort", finish);
  });
}
