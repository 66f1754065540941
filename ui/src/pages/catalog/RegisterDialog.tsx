/** Writes a step as JSON: a new one from an example, or a registered one that changes. */

import { useState } from "react";
import { ApiProblem, api } from "../../api/client";
import type { Step } from "../../api/goals";
import { currentNamespace } from "../../api/namespace";
import type { FieldProblem } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { Button } from "../../components/Button";
import { CopyAs } from "../../components/CopyAs";
import { Dialog } from "../../components/Dialog";
import { ErrorBox } from "../../components/ErrorBox";
import { SelectField } from "../../components/Field";
import { JsonEditor } from "../../components/JsonEditor";
import { parseJson } from "../../components/parse-json";
import { within } from "../../components/SchemaFormProblems";
import { toast } from "../../shell/toasts";
import { stepText, TEMPLATES } from "./descriptions";
import { registering } from "./requests";

interface RegisterDialogProps {
  /** The step to change; none for a new one. */
  step?: Step;
  onClose: () => void;
  onDone: (id: string) => void;
}

export function RegisterDialog({ step, onClose, onDone }: RegisterDialogProps) {
  const [text, setText] = useState(() => (step ? stepText(step) : JSON.stringify(TEMPLATES.script, null, 2)));
  const { busy, error, send } = useRequest();
  // Told of an earlier text, they would point to the wrong lines.
  const [checked, setChecked] = useState("");
  const mode = step ? "update" : "register";
  const read = parseJson(text);
  const action = read.ok ? registering(read.value, mode, currentNamespace()) : undefined;
  const submit = () => {
    if (!action || busy) return;
    setChecked(text);
    send(async () => {
      const answer = await api.post<{ step: Step }>("/definitions", action.body);
      toast({ kind: "ok", text: step ? `Updated ${answer.step.id}` : `Registered ${answer.step.id}` });
      onClose();
      onDone(answer.step.id);
    });
  };
  const told = checked === text ? error : undefined;
  return (
    <Dialog
      wide
      title={step ? `Update ${step.name}` : "Register a step"}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          {action && <CopyAs action={action} up />}
          <span className="grow" />
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={busy} disabled={!action}>
            {step ? "Update" : "Register"}
          </Button>
        </>
      }
    >
      {!step && (
        <SelectField
          label="Start from an example"
          defaultValue="script"
          onChange={(event) => setText(JSON.stringify(TEMPLATES[event.target.value], null, 2))}
        >
          {Object.keys(TEMPLATES).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
      )}
      <JsonEditor label="Step (JSON)" value={text} onChange={setText} problems={told && pointed(told)} />
      {told && <ErrorBox error={unlisted(told)} title={step ? "Not updated" : "Not registered"} />}
    </Dialog>
  );
}

/** Errors that are shown at their lines are not repeated. */
function unlisted({ problem }: ApiProblem): ApiProblem {
  return new ApiProblem({ ...problem, errors: [] });
}

/** Problems of the step itself, wherever the pointer begins. */
function pointed(error: ApiProblem): FieldProblem[] {
  const { inside, outside } = within(error.problem.errors ?? [], "/definition");
  return [...inside, ...outside] as FieldProblem[];
}
