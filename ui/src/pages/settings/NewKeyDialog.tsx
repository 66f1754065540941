/** Makes a key and shows it, once. */

import { useState } from "react";
import { api } from "../../api/client";
import type { FieldProblem, NewKey, Role } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { Button } from "../../components/Button";
import { CopyAs } from "../../components/CopyAs";
import { copyText } from "../../components/clipboard";
import { sh } from "../../components/copy";
import { Dialog } from "../../components/Dialog";
import { ErrorBox } from "../../components/ErrorBox";
import { SelectField, TextField } from "../../components/Field";
import { useMe } from "../../shell/me";
import { ROLE_WORDS, ROLES } from "./roles";

const DAY = 86_400;
const SPANS: [number, string][] = [
  [7 * DAY, "7 days"],
  [30 * DAY, "30 days"],
  [90 * DAY, "90 days"],
  [365 * DAY, "1 year"],
  [0, "never expires"],
];

const COUNT = /^([1-9]\d{0,5})?$/;
const COUNT_RULE = "A whole number from 1 to 100,000, or nothing for no limit.";
const NAMESPACE = /^([a-z0-9][a-z0-9_-]{0,62}|\*)$/;

interface Props {
  onClose: () => void;
  onMade: () => void;
}

export function NewKeyDialog({ onClose, onMade }: Props) {
  const [made, setMade] = useState<NewKey>();
  const finish = (key: NewKey) => {
    setMade(key);
    onMade();
  };
  return made ? <Shown made={made} onClose={onClose} /> : <Ask onClose={onClose} onMade={finish} />;
}

interface Wanted {
  name: string;
  role: Role;
  namespace: string;
  /** Seconds; 0 for ever. */
  expires: number;
  /** As typed; empty for no limit. */
  startRate: string;
  maxRunning: string;
}

function Ask({ onClose, onMade }: { onClose: () => void; onMade: (key: NewKey) => void }) {
  const me = useMe();
  const namespace = me.namespace === "*" ? "default" : me.namespace;
  const [wanted, setWanted] = useState<Wanted>({
    name: "",
    role: "operator",
    namespace,
    expires: 90 * DAY,
    startRate: "",
    maxRunning: "",
  });
  const { busy, error, send } = useRequest();
  const { expires, startRate, maxRunning, ...rest } = wanted;
  const quota = { start_rate: Number(startRate) || undefined, max_running: Number(maxRunning) || undefined };
  const body = { ...rest, ...quota, expires_in: expires || undefined };
  const bad = !NAMESPACE.test(wanted.namespace) || !COUNT.test(startRate) || !COUNT.test(maxRunning);
  const make = async () => onMade(await api.post<NewKey>("/keys", body, { namespace: null }));
  return (
    <Dialog
      title="New key"
      onClose={onClose}
      onSubmit={() => send(make)}
      footer={
        <>
          <CopyAs up action={{ method: "POST", path: "/keys", body, cli: command(wanted) }} />
          <span className="grow" />
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={busy} disabled={bad}>
            Create key
          </Button>
        </>
      }
    >
      <Fields wanted={wanted} onChange={setWanted} errors={error?.problem.errors ?? []} />
      {error && <ErrorBox error={error} title="Could not create the key" />}
    </Dialog>
  );
}

interface FieldsProps {
  wanted: Wanted;
  onChange: (wanted: Wanted) => void;
  errors: FieldProblem[];
}

function Fields({ wanted, onChange, errors }: FieldsProps) {
  const told = (pointer: string) => errors.find((one) => one.pointer === pointer)?.message;
  const wrong = NAMESPACE.test(wanted.namespace) ? undefined : "Use lower-case letters, digits, - and _, or * for all.";
  return (
    <>
      <TextField
        label="Name"
        hint="The person or program that uses the key; shown in the audit log."
        error={told("/name")}
        required
        maxLength={100}
        value={wanted.name}
        onChange={(event) => onChange({ ...wanted, name: event.target.value })}
      />
      <SelectField
        label="Role"
        hint={ROLE_WORDS[wanted.role]}
        error={told("/role")}
        value={wanted.role}
        onChange={(event) => onChange({ ...wanted, role: event.target.value as Role })}
      >
        {ROLES.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </SelectField>
      <TextField
        label="Namespace"
        hint="* for all of them"
        error={wrong ?? told("/namespace")}
        required
        value={wanted.namespace}
        onChange={(event) => onChange({ ...wanted, namespace: event.target.value })}
      />
      <SelectField
        label="Expires in"
        value={wanted.expires}
        onChange={(event) => onChange({ ...wanted, expires: Number(event.target.value) })}
      >
        {SPANS.map(([seconds, words]) => (
          <option key={seconds} value={seconds}>
            {words}
          </option>
        ))}
      </SelectField>
      <TextField
        label="Starts per second"
        hint="Runs it may start; no limit if left empty."
        error={COUNT.test(wanted.startRate) ? told("/start_rate") : COUNT_RULE}
        inputMode="numeric"
        value={wanted.startRate}
        onChange={(event) => onChange({ ...wanted, startRate: event.target.value.trim() })}
      />
      <TextField
        label="Runs at once"
        hint="Its runs that have not ended; no limit if left empty."
        error={COUNT.test(wanted.maxRunning) ? told("/max_running") : COUNT_RULE}
        inputMode="numeric"
        value={wanted.maxRunning}
        onChange={(event) => onChange({ ...wanted, maxRunning: event.target.value.trim() })}
      />
    </>
  );
}

function command({ name, role, namespace, expires, startRate, maxRunning }: Wanted): string {
  const days = expires ? ` --days ${expires / DAY}` : "";
  const quota = `${startRate && ` --start-rate ${startRate}`}${maxRunning && ` --max-running ${maxRunning}`}`;
  return `plait keys create ${sh(name || "NAME")} --role ${role} -n ${sh(namespace)}${days}${quota}`;
}

function Shown({ made, onClose }: { made: NewKey; onClose: () => void }) {
  return (
    <Dialog
      title={`Key for ${made.name}`}
      onClose={onClose}
      onSubmit={() => void copyText(made.key, "the key")}
      footer={
        <>
          <span className="grow" />
          <Button onClick={onClose}>Done</Button>
          <Button type="submit" look="primary" icon="copy" data-autofocus>
            Copy key
          </Button>
        </>
      }
    >
      <p>
        Copy it now: it is shown <strong>only once</strong>. The server stores only a hash.
      </p>
      <code className="settings-key">{made.key}</code>
    </Dialog>
  );
}
