/** The steps in order, each with what it waits for. */

import { Button, IconButton } from "../../../components/Button";
import { Empty } from "../../../components/Empty";
import type { Problem } from "../problems";
import { KIND_WORDS, KINDS, type Kind, needsOf, type Step } from "./source";

interface Props {
  steps: Step[];
  selected: string | undefined;
  problems: Problem[];
  onSelect: (name: string) => void;
  onAdd: (kind: Kind) => void;
  onMove: (index: number, by: -1 | 1) => void;
}

export function StepList({ steps, selected, problems, onSelect, onAdd, onMove }: Props) {
  return (
    <section className="step-list" aria-label="Steps">
      {steps.length === 0 && (
        <Empty icon="definitions" title="No steps yet">
          Add one below. Steps are wired by references: <code>@user.id</code> is the field id of what step user
          returned.
        </Empty>
      )}
      <ol>
        {steps.map((step, at) => (
          <li key={`${step.index} ${step.name}`} className={step.name === selected ? "step-row selected" : "step-row"}>
            <button
              type="button"
              className="step-open"
              aria-pressed={step.name === selected}
              onClick={() => onSelect(step.name)}
            >
              <span className="chip">{step.kind === undefined ? "no action" : KIND_WORDS[step.kind]}</span>
              <strong className="clip">{step.name}</strong>
              <Facts step={step} />
              <Wrong
                count={problems.filter(({ pointer, warning }) => !warning && isBelow(pointer, step.index)).length}
              />
            </button>
            <IconButton
              icon="up"
              className="small"
              label={`Move ${step.name} up`}
              disabled={at === 0}
              onClick={() => onMove(step.index, -1)}
            />
            <IconButton
              icon="down"
              className="small"
              label={`Move ${step.name} down`}
              disabled={at === steps.length - 1}
              onClick={() => onMove(step.index, 1)}
            />
          </li>
        ))}
      </ol>
      <fieldset className="row wrap step-add">
        <legend className="visually-hidden">Add a step</legend>
        {KINDS.map((kind) => (
          <Button key={kind} className="small" icon="plus" onClick={() => onAdd(kind)}>
            {KIND_WORDS[kind]}
          </Button>
        ))}
      </fieldset>
    </section>
  );
}

function isBelow(pointer: string, index: number): boolean {
  return pointer === `/steps/${index}` || pointer.startsWith(`/steps/${index}/`);
}

function Facts({ step }: { step: Step }) {
  const needs = [...needsOf(step)].filter((name) => !["input", "item", "index", "ctx"].includes(name));
  const facts = [
    needs.length > 0 ? `after ${needs.join(", ")}` : "",
    step.fields.when === undefined ? "" : "conditional",
    step.fields.forEach === undefined ? "" : "for each item",
  ].filter(Boolean);
  return <span className="muted clip grow">{facts.join(" · ")}</span>;
}

function Wrong({ count }: { count: number }) {
  return count === 0 ? null : <span className="ed-wrong">{count === 1 ? "1 error" : `${count} errors`}</span>;
}
