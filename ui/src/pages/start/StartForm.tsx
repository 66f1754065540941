/** The input of a run and how it is started. */

import type { ApiProblem } from "../../api/client";
import { currentNamespace } from "../../api/namespace";
import type { Definition } from "../../api/types";
import { Button, LinkButton } from "../../components/Button";
import { CopyAs } from "../../components/CopyAs";
import { ErrorBox } from "../../components/ErrorBox";
import { TextField } from "../../components/Field";
import { SchemaForm } from "../../components/SchemaForm";
import type { Schema } from "../../components/SchemaFormModel";
import { Loading } from "../../shell/fallbacks";
import { allows, useMe } from "../../shell/me";
import { Link } from "../../shell/router";
import { definitionPath, usualReference, versionKey, versionsOf } from "../definitions/versions";
import { CheckResult } from "./CheckResult";
import { startCopy } from "./request";
import { type Options, useInputSchema, useStart, type Wrong } from "./use-start";

interface Props {
  definition: Definition;
  /** A version or a tag; empty for the plain name. */
  reference: string;
  onReference: (reference: string) => void;
  onOther: () => void;
}

export function StartForm(props: Props) {
  const schema = useInputSchema(props.definition, props.reference);
  return schema === undefined ? <Loading what="Loading the input" /> : <Filled {...props} schema={schema} />;
}

function Filled({ schema, ...chosen }: Props & { schema: Schema }) {
  const may = allows(useMe(), "operator");
  const { form, request, options, setOptions, wrong, busy, error, plan, check, start } = useStart(
    chosen.definition,
    chosen.reference,
    schema,
  );
  return (
    <div className="start">
      <form
        className="card pad stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (may) start();
        }}
      >
        <Chosen {...chosen} />
        <SchemaForm form={form} label="Input" />
        <OptionFields options={options} onChange={setOptions} wrong={wrong} error={error} />
        {error && <StartError error={error} id={options.id.trim()} />}
        <div className="row wrap">
          <Button type="submit" look="primary" icon="play" busy={busy} disabled={!may}>
            Start
          </Button>
          <Button busy={busy} onClick={check}>
            Check
          </Button>
          <span className="grow" />
          <CopyAs up action={startCopy(request, currentNamespace())} />
        </div>
      </form>
      {plan && <CheckResult plan={plan} />}
    </div>
  );
}

function Chosen({ definition, reference, onReference, onOther }: Props) {
  const versions = versionsOf(definition).filter(({ loaded }) => loaded);
  const keys = versions.map((version) => versionKey(version, versions));
  const choices = [...Object.keys(definition.tags ?? {}), ...keys];
  const known = reference === "" || choices.includes(reference) ? choices : [reference, ...choices];
  return (
    <header className="start-chosen">
      <div className="grow">
        <h2>
          <Link className="text" to={definitionPath(definition.name)}>
            {definition.name}
          </Link>{" "}
          <span className="chip">{definition.dialect}</span>
        </h2>
        {definition.doc && <p className="muted start-text">{definition.doc.trim().split("\n\n", 1)[0]}</p>}
        {!definition.loaded && <p className="field-error">Not loaded by this server: it can't be started here.</p>}
      </div>
      <label className="start-version">
        <span className="visually-hidden">Version or tag</span>
        <select className="input" value={reference} onChange={(event) => onReference(event.target.value)}>
          {usualReference(definition) === "" && <option value="">latest</option>}
          {known.map((key) => (
            <option key={key}>{key}</option>
          ))}
        </select>
      </label>
      <Button look="ghost" onClick={onOther}>
        Change
      </Button>
    </header>
  );
}

interface OptionProps {
  options: Options;
  onChange: (options: Options) => void;
  wrong: Wrong;
  error: ApiProblem | undefined;
}

function OptionFields({ options, onChange, wrong, error }: OptionProps) {
  const set = (name: keyof Options) => (event: { target: { value: string } }) =>
    onChange({ ...options, [name]: event.target.value });
  const told = (pointer: string) => error?.problem.errors?.find((one) => one.pointer === pointer)?.message;
  return (
    <fieldset className="start-options">
      <legend>Options</legend>
      <TextField
        label="ID"
        hint="Generated if left empty. Starting twice with the same ID gives the same run."
        error={wrong.id ?? told("/id")}
        maxLength={200}
        value={options.id}
        onChange={set("id")}
      />
      <TextField
        label="Labels"
        hint="key:value, separated by spaces"
        placeholder="team:checkout"
        error={wrong.labels ?? told("/labels")}
        value={options.labels}
        onChange={set("labels")}
      />
      <TextField
        label="Deadline"
        hint="The run fails if it takes longer."
        placeholder="2 h"
        error={wrong.deadline ?? told("/deadline_ms")}
        value={options.deadline}
        onChange={set("deadline")}
      />
    </fieldset>
  );
}

function StartError({ error, id }: { error: ApiProblem; id: string }) {
  return (
    <ErrorBox error={error} title="Could not start the run">
      {error.status === 409 && id !== "" && (
        <LinkButton to={`/runs/${encodeURIComponent(id)}`}>View the run with this ID</LinkButton>
      )}
    </ErrorBox>
  );
}
