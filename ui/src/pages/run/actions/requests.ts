/** The actions on a run as data: the request, and the same as a command line and as Python. */

import type { Json, Node, Run } from "../../../api/types";
import { type CopyAction, py, sh } from "../../../components/copy";

/** What a button asked for; the dialog asks for the rest. */
export type Asked =
  | { action: "cancel" | "retry" | "resume" | "compensate" }
  | { action: "rewind"; node: Node }
  | { action: "message"; name?: string }
  | { action: "fork"; at?: number | string; node?: Node };

type Body = { [key: string]: Json | undefined };

export function cancelRequest(run: Run, reason: string, compensate: boolean): CopyAction {
  return request(
    run,
    "cancel",
    { reason: reason || undefined, compensate: compensate || undefined },
    {
      cli: ["cancel", run.id, ...(reason ? ["--reason", reason] : []), ...(compensate ? ["--compensate"] : [])],
      python: `run.cancel(${args(reason ? py(reason) : "", compensate ? "compensate=True" : "")})`,
    },
  );
}

/** Of what failed, or of a blocked run; with `from`, of that node and all after it. */
export function retryRequest(run: Run, from?: string): CopyAction {
  return request(
    run,
    "retry",
    { from },
    {
      cli: ["retry", run.id, ...(from === undefined ? [] : ["--from", from])],
      python: `run.retry(${from === undefined ? "" : py(from)})`,
    },
  );
}

export function compensateRequest(run: Run): CopyAction {
  return request(run, "compensate", {}, { cli: ["compensate", run.id], python: "run.compensate()" });
}

export function messageRequest(run: Run, name: string, body: Json): CopyAction {
  return request(
    run,
    "messages",
    { name, body },
    {
      cli: ["message", run.id, name, ...(body === null ? [] : [JSON.stringify(body)])],
      python: `run.message(${args(py(name), body === null ? "" : py(body))})`,
    },
  );
}

export interface Fork {
  at?: number | string;
  /** Other outputs of nodes. */
  edits: { [node: string]: Json };
  /** Of a run of goals: other values. */
  attributes?: { [name: string]: Json };
  id?: string;
}

export function forkRequest(run: Run, { at, edits: outputs, attributes = {}, id }: Fork): CopyAction {
  const valued = Object.keys(attributes).length > 0;
  return fork(run, at, valued ? { attributes } : outputs, valued ? attributes : outputs, id);
}

/** What an agent may get in a fork; what is empty stays as it is. */
export interface AgentSettings {
  model?: string;
  prompt?: string;
  instructions?: string;
}

/** A fork that asks one turn anew: it shares all before event `seq`, which recorded the reply. */
export function turnForkRequest(run: Run, node: string, seq: number, settings: AgentSettings, id?: string): CopyAction {
  const given = Object.entries(settings as { [key: string]: string }).filter(([, text]) => text.trim() !== "");
  const edits: Edits = given.length > 0 ? { agents: { [node]: Object.fromEntries(given) } } : {};
  return fork(run, seq - 1, edits, edits, id);
}

type Edits = { [part: string]: Json };

/** `set` is what the command line names each by. */
function fork(run: Run, at: Fork["at"], edits: Edits, set: Edits, id: string | undefined): CopyAction {
  const edited = Object.keys(edits).length > 0;
  return request(
    run,
    "fork",
    { at, edits: edited ? edits : undefined, id },
    {
      cli: [
        "fork",
        run.id,
        ...(at === undefined ? [] : ["--at", String(at)]),
        ...Object.entries(set).flatMap(([name, value]) => ["--set", `${name}=${JSON.stringify(value)}`]),
        ...(id ? ["--id", id] : []),
      ],
      python: `fork = await run.fork(${args(
        at === undefined ? "" : `at=${py(at)}`,
        edited ? `edits=${py(edits)}` : "",
        id ? `id=${py(id)}` : "",
      )})`,
    },
  );
}

function request(run: Run, verb: string, body: Body, same: { cli?: string[]; python: string }): CopyAction {
  const foreign = run.namespace !== "default";
  const query = foreign ? `?namespace=${encodeURIComponent(run.namespace)}` : "";
  const cli = same.cli && ["plait", ...same.cli, ...(foreign ? ["--namespace", run.namespace] : [])];
  return {
    method: "POST",
    path: `/runs/${encodeURIComponent(run.id)}/${verb}${query}`,
    body,
    cli: cli?.map(sh).join(" "),
    python: program(run, same.python),
  };
}

function program(run: Run, call: string): string {
  const namespace = run.namespace === "default" ? "" : `namespace=${py(run.namespace)}`;
  return [
    "from plait import Engine",
    "",
    'async with Engine("sqlite:///plait.db") as engine:',
    `    run = await engine.get(${args(py(run.id), namespace)})`,
    `    ${call.includes("await ") ? call : `await ${call}`}`,
  ].join("\n");
}

function args(...all: string[]): string {
  return all.filter(Boolean).join(", ");
}
