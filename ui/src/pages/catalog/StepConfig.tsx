/** How a step does its work: the call, the script, the goals; when it is skipped; how it is tried again. */

import type { ReactNode } from "react";
import type { Step } from "../../api/goals";
import { span } from "../../components/format";
import { Json } from "../../components/Json";
import { Link } from "../../shell/router";
import { retryWords, TYPE_WORDS } from "./descriptions";
import { ScriptText } from "./ScriptText";

type Fact = [string, ReactNode];

export function StepConfig({ step, to }: { step: Step; to: (id: string) => string }) {
  const facts = [...callFacts(step, to), ...workFacts(step)].filter(([, value]) => value !== undefined && value !== "");
  return (
    <section className="stack tight" aria-label="Configuration">
      <h3>Configuration</h3>
      <p className="muted">{TYPE_WORDS[step.type] ?? `A ${step.type} step`}.</p>
      {step.script && <ScriptText title="script" script={step.script} />}
      {step.predicate && (
        <ScriptText
          title={
            step.predicate.scope && step.predicate.scope !== "both"
              ? `condition (${step.predicate.scope})`
              : "condition"
          }
          script={step.predicate}
        />
      )}
      {step.pipeline && <Json value={step.pipeline.steps} label="pipeline" />}
      {step.run && <Json value={step.run.definition} label="definition" />}
      <dl className="facts step-facts">
        {facts.map(([word, value]) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function callFacts({ http, flow, python, run, tool, agent, pipeline }: Step, to: (id: string) => string): Fact[] {
  if (http) {
    return [
      ["Calls", <code key="call">{`${http.method ?? "POST"} ${http.endpoint}`}</code>],
      ["Timeout", time(http.timeout)],
      ["Callback", time(http.callback_timeout)],
      ["Health", code(http.health_check)],
      ["Compensation", code(http.compensate)],
      ["Recall", http.recall === false ? "not called again after a restart" : undefined],
    ];
  }
  if (flow) {
    const links = flow.goals.map((goal) => (
      <Link key={goal} className="text mono" to={to(goal)}>
        {goal}
      </Link>
    ));
    return [
      [
        "Goals",
        <span key="goals" className="row wrap">
          {links}
        </span>,
      ],
    ];
  }
  if (python) {
    return [
      ["Handler", code(python.handler)],
      ["Queue", python.queue || "engine process"],
      ["Timeout", time(python.timeout)],
      ["Compensation", code(python.compensate)],
    ];
  }
  if (tool) {
    return [
      ["Tool", code(tool.name)],
      ["Servers", tool.servers?.join(", ")],
      ["Timeout", time(tool.timeout)],
    ];
  }
  if (agent) {
    return [
      ["Model", code(agent.model)],
      ["Prompt", agent.prompt],
      ["Tools", agent.tools?.join(", ")],
    ];
  }
  if (pipeline) return [["Works on", code(pipeline.data)]];
  return run ? [["Dialect", run.dialect]] : [];
}

function workFacts({ work_config: work, memoizable }: Step): Fact[] {
  return [
    ["Retries", retryWords(work)],
    ["Also retries", work.retry_statuses?.length ? `HTTP ${work.retry_statuses.join(", ")}` : undefined],
    ["Parallelism", `${work.parallelism} ${work.parallelism === 1 ? "item" : "items"}`],
    ["Memo", memoizable ? "results are reused for equal inputs" : undefined],
  ];
}

function time(ms: number | undefined): string | undefined {
  return ms && ms > 0 ? span(ms) : undefined;
}

function code(text: string | undefined): ReactNode {
  return text ? <code>{text}</code> : undefined;
}
