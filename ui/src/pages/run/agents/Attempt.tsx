/** One attempt of an agent: what it was asked, each turn, what it decided, and how it ended. */

import { type ReactNode, useState } from "react";
import type { AgentRecord, AgentTurn } from "../../../api/schema";
import { CodeText } from "../../../components/CodeText";
import { ErrorBox } from "../../../components/ErrorBox";
import { bytes } from "../../../components/format";
import { Json } from "../../../components/Json";
import { costWords, tokenWords } from "../../../components/model-use";
import { Status } from "../../../components/Status";
import { Duration } from "../../../components/Time";
import { LongText } from "./LongText";
import { Turn } from "./Turn";

/** Turns that are unfolded at first: of a long conversation, the last ones. */
const UNFOLDED = 5;

interface Props {
  record: AgentRecord;
  onNode: (id: string) => void;
  /** Undefined: the run can't be forked. */
  onRerun: ((turn: AgentTurn) => void) | undefined;
}

export function Attempt({ record, onNode, onRerun }: Props) {
  const { node_id: node, attempt, turns = [], waiting } = record;
  return (
    <section className="agent card" aria-label={`Agent ${node}, attempt ${attempt}`}>
      <header className="row wrap">
        <h2>
          <button type="button" className="why-node" onClick={() => onNode(node)}>
            {node}
          </button>
        </h2>
        {attempt > 1 && <span className="muted">attempt {attempt}</span>}
        <Status status={record.status} />
        <span className="chip">{record.model}</span>
        <Use record={record} />
      </header>
      {waiting && (
        <p className="muted" role="status">
          <CodeText text={waiting} />
        </p>
      )}
      <Asked record={record} />
      <ol className="agent-turns">
        {turns.map((turn, index) => (
          <Turn
            key={turn.turn}
            turn={turn}
            open={index >= turns.length - UNFOLDED}
            onRerun={onRerun && (() => onRerun(turn))}
          />
        ))}
      </ol>
      <Outcome record={record} />
    </section>
  );
}

function Use({ record: { turns = [], max_turns, usage, cost_usd, cache_hit, ...record } }: { record: AgentRecord }) {
  return (
    <span className="row wrap muted">
      <span>
        turn {turns.length} of {max_turns}
      </span>
      {turns.length > 0 && (
        <>
          <span>{tokenWords(usage)}</span>
          <span>{costWords(cost_usd)}</span>
        </>
      )}
      {cache_hit && <span className="chip agent-cached">cache hit</span>}
      <Duration from={record.created_at} to={record.completed_at} />
    </span>
  );
}

function Asked({ record: { prompt, prompt_hash, instructions, offered_tools = [] } }: { record: AgentRecord }) {
  return (
    <div className="stack tight">
      {instructions && (
        <Fold title="Instructions" note={bytes(instructions.length)}>
          <LongText text={instructions} label="Instructions" />
        </Fold>
      )}
      {prompt === undefined ? (
        <p className="faint" title={prompt_hash}>
          The prompt is not kept; its hash is <code>{(prompt_hash ?? "").slice(0, 12)}</code>.
        </p>
      ) : (
        <Fold title="Prompt" note={bytes(prompt.length)}>
          <LongText text={prompt} label="Prompt" />
        </Fold>
      )}
      {offered_tools.length > 0 && (
        <p className="row wrap muted">
          Tools offered:
          {offered_tools.map((tool) => (
            <code key={tool} className="chip">
              {tool}
            </code>
          ))}
        </p>
      )}
    </div>
  );
}

/** Only what is unfolded is in the page. */
function Fold({ title, note, children }: { title: string; note: string; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="stack tight">
      <div className="row">
        <h3>
          <button type="button" className="agent-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
            {title}
          </button>
        </h3>
        <span className="faint">{note}</span>
      </div>
      {open && children}
    </div>
  );
}

function Outcome({ record }: { record: AgentRecord }) {
  const { decision, denied_route: route, warnings = [], error, result_data, status } = record;
  return (
    <>
      {decision && (
        <section className="agent-decision" aria-label="Decision">
          <h3>Decision</h3>
          <p>
            {decision.next_nodes === undefined ? null : (
              <>
                Goes on to <Names names={decision.next_nodes} />.{" "}
              </>
            )}
            {decision.reasoning}
          </p>
        </section>
      )}
      {route && (
        <section className="agent-decision denied" aria-label="Denied route">
          <h3>Denied route</h3>
          <p>
            It asked for <Names names={route.requested} />; <Names names={route.denied} /> is not allowed. Allowed:{" "}
            <Names names={route.allowed} />.
          </p>
        </section>
      )}
      {warnings.map((warning) => (
        <p key={warning} className="muted">
          <CodeText text={warning} />
        </p>
      ))}
      {error && <ErrorBox error={error} />}
      {status === "completed" && (
        <div className="stack tight">
          <h3>Result</h3>
          <Json value={result_data ?? null} label="result of the agent" />
        </div>
      )}
    </>
  );
}

function Names({ names }: { names: readonly string[] }) {
  if (names.length === 0) return "nothing";
  return names.map((name, index) => (
    <span key={name}>
      {index > 0 && ", "}
      <code>{name}</code>
    </span>
  ));
}
