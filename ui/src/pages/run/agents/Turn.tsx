/** One turn of an agent: the model's reply, the tool calls in it, and what it used. */

import { useState } from "react";
import type { AgentTurn } from "../../../api/schema";
import { Button } from "../../../components/Button";
import { absolute, span } from "../../../components/format";
import { Json } from "../../../components/Json";
import { costWords, tokenWords } from "../../../components/model-use";
import { LongText } from "./LongText";
import { finishWords, replyOf } from "./reply";
import { ToolCall } from "./ToolCall";

interface Props {
  turn: AgentTurn;
  /** Whether it is unfolded at first. */
  open: boolean;
  /** Undefined: the run can't be forked. */
  onRerun: (() => void) | undefined;
}

export function Turn({ turn, open, onRerun }: Props) {
  const [unfolded, setUnfolded] = useState(open);
  const { tool_calls: calls = [] } = turn;
  const finish = finishWords(turn.finish);
  return (
    <li className="agent-turn">
      <header className="row wrap">
        <h3>
          <button
            type="button"
            className="agent-fold"
            aria-expanded={unfolded}
            aria-label={`Turn ${turn.turn}`}
            onClick={() => setUnfolded(!unfolded)}
          >
            Turn {turn.turn}
          </button>
        </h3>
        {turn.model && (
          <span className="chip" title="As the provider calls the model">
            {turn.model}
          </span>
        )}
        <span className="muted">{tokenWords(turn.usage)}</span>
        <span className="muted">{costWords(turn.cost_usd)}</span>
        {turn.cache_hit && <span className="chip agent-cached">cache hit</span>}
        <span className="faint" title={absolute(turn.at)}>
          {span(turn.ms)}
        </span>
        {finish && <span className="agent-error">{finish}</span>}
        {!unfolded && calls.length > 0 && <span className="faint">{calls.map(({ tool }) => tool).join(", ")}</span>}
        <span className="grow" />
        {onRerun && (
          <Button className="small" look="ghost" icon="fork" onClick={onRerun} aria-label={`Re-run turn ${turn.turn}`}>
            Re-run
          </Button>
        )}
      </header>
      {unfolded && (
        <div className="agent-turn-body">
          <Reply turn={turn} />
          {calls.length > 0 && (
            <ul className="agent-calls" aria-label={`Tool calls of turn ${turn.turn}`}>
              {calls.map((call) => (
                <ToolCall key={call.index} call={call} />
              ))}
            </ul>
          )}
          {turn.feedback && (
            <div className="stack tight">
              <h4>Sent back to the model</h4>
              <LongText text={turn.feedback} label={`What the model was told after turn ${turn.turn}`} />
            </div>
          )}
        </div>
      )}
    </li>
  );
}

function Reply({ turn: { turn, text = "" } }: { turn: AgentTurn }) {
  const reply = replyOf(text);
  if (!reply) return null;
  const label = `reply of turn ${turn}`;
  return "value" in reply ? <Json value={reply.value} label={label} /> : <LongText text={reply.text} label={label} />;
}
