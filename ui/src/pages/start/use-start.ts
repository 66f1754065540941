/** The state of a start: what is asked for, what is wrong with it, and what came of checking or sending it. */

import { useRef, useState } from "react";
import { type ApiProblem, api } from "../../api/client";
import type { Definition, DefinitionVersion, Plan, Started } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { useResource } from "../../api/use-resource";
import { type FormState, useSchemaForm } from "../../components/SchemaForm";
import { type Schema, schemaOf } from "../../components/SchemaFormModel";
import { within } from "../../components/SchemaFormProblems";
import { navigate } from "../../shell/router";
import { toast } from "../../shell/toasts";
import { bodyOf, idProblem, parseLabels, type Request, secondsOf } from "./request";

export type Options = Pick<Request, "id" | "labels" | "deadline">;
export type Wrong = { [name in keyof Options]?: string };

export interface Start {
  form: FormState;
  request: Request;
  options: Options;
  setOptions: (options: Options) => void;
  wrong: Wrong;
  busy: boolean;
  error: ApiProblem | undefined;
  plan: Plan | undefined;
  check: () => void;
  start: () => void;
}

export function useStart(definition: Definition, reference: string, schema: Schema): Start {
  const form = useSchemaForm(schema);
  const [options, setOptions] = useState<Options>({ id: "", labels: "", deadline: "" });
  const [plan, setPlan] = useState<Plan>();
  const { busy, error, send } = useRequest();
  const name = reference ? `${definition.name}@${reference}` : definition.name;
  const request: Request = { definition: name, dialect: definition.dialect, input: form.now, ...options };
  const wrong = wrongIn(options);
  const withInput = (work: (request: Request) => Promise<void>) => {
    setPlan(undefined);
    const taken = form.take();
    if (!taken || Object.values(wrong).some(Boolean)) return;
    send(
      () => work({ ...request, input: taken.value }),
      (problem) => form.fail(inputProblems(problem)),
    );
  };
  return {
    form,
    request,
    options,
    setOptions,
    wrong,
    busy,
    error,
    plan,
    check: () => withInput(async (asked) => setPlan(await planned(asked))),
    start: () => withInput(started),
  };
}

function wrongIn({ id, labels, deadline }: Options): Wrong {
  return { id: idProblem(id), labels: parseLabels(labels).problem, deadline: secondsOf(deadline).problem };
}

function planned(request: Request): Promise<Plan> {
  const { dialect, definition, input } = bodyOf(request);
  return api.post<Plan>("/plan", { dialect, definition, input });
}

async function started(request: Request): Promise<void> {
  const { id } = await api.post<Started>("/runs", bodyOf(request));
  toast({ kind: "ok", text: `Started ${id}` });
  navigate(`/runs/${encodeURIComponent(id)}`);
}

const BODY = ["/id", "/labels", "/deadline_ms", "/definition", "/dialect", "/namespace"];

/** The check of the body points into the body, a definition's own check into the input. */
function inputProblems(problem: ApiProblem) {
  const { inside, outside } = within(problem.problem.errors ?? [], "/input");
  return inside.length > 0 ? inside : outside.filter(({ pointer }) => !BODY.includes(pointer));
}

/** The input schema of the chosen version, which may take another input than the newest; undefined until it is there. */
export function useInputSchema(definition: Definition, reference: string): Schema | undefined {
  const path = `/definitions/${encodeURIComponent(definition.name)}/versions/${encodeURIComponent(reference)}`;
  const { data, error } = useResource<DefinitionVersion>(reference === "" ? undefined : path);
  // While another version is on its way the form stays as it is.
  const kept = useRef<Schema>(undefined);
  const found = reference === "" || error ? definition : data;
  if (found) kept.current = schemaOf(found.input_schema) ?? true;
  return kept.current;
}
