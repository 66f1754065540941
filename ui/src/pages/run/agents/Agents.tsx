/** The agents of a run, attempt by attempt and turn by turn, as they work. */

import { useEffect, useRef, useState } from "react";
import type { AgentRecord, AgentRecords, AgentTurn } from "../../../api/schema";
import type { RunDetail } from "../../../api/types";
import { type Resource, useResource } from "../../../api/use-resource";
import { Button } from "../../../components/Button";
import { Empty } from "../../../components/Empty";
import { ErrorBox } from "../../../components/ErrorBox";
import { costWords, count } from "../../../components/model-use";
import { Loading } from "../../../shell/fallbacks";
import { TurnFork } from "../actions/TurnFork";
import { runPath } from "../use-run";
import { Attempt } from "./Attempt";
import "./agents.css";

interface Props {
  detail: RunDetail;
  onNode: (id: string) => void;
  onDone: () => void;
}

export default function Agents({ detail, onNode, onDone }: Props) {
  const { data, error, reload } = useRecords(detail.run.id, detail.seq);
  const [asked, setAsked] = useState<{ record: AgentRecord; turn: AgentTurn }>();
  if (error && !data) {
    return (
      <ErrorBox error={error}>
        <Button onClick={reload}>Try again</Button>
      </ErrorBox>
    );
  }
  if (!data) return <Loading what="Loading the agents" />;
  if (data.agents.length === 0) return <Empty title="No agent has begun yet" />;
  const may = detail.actions.includes("fork");
  return (
    <div className="agents">
      <p className="muted">
        {count(data.tokens_used ?? 0)} tokens, {costWords(data.cost_usd)}
      </p>
      {data.agents.map((record) => (
        <Attempt
          key={record.job_id}
          record={record}
          onNode={onNode}
          onRerun={may ? (turn) => setAsked({ record, turn }) : undefined}
        />
      ))}
      {asked && <TurnFork {...asked} detail={detail} onClose={() => setAsked(undefined)} onDone={onDone} />}
    </div>
  );
}

/** Asked again after each event, never while an answer is awaited: a busy run must not starve the page. */
function useRecords(id: string, seq: number): Resource<AgentRecords> {
  const found = useResource<AgentRecords>(runPath(id, "/agents"));
  const { loading, reload } = found;
  const asked = useRef(seq);
  useEffect(() => {
    if (loading || asked.current === seq) return;
    asked.current = seq;
    reload();
  }, [loading, seq, reload]);
  return found;
}
