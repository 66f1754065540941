/** API keys: list, create, revoke. */

import { useState } from "react";
import { api } from "../../api/client";
import type { Key } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { useResource } from "../../api/use-resource";
import { Button } from "../../components/Button";
import { CopyAs } from "../../components/CopyAs";
import { sh } from "../../components/copy";
import { Dialog } from "../../components/Dialog";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { Ago, useNow } from "../../components/Time";
import { Loading } from "../../shell/fallbacks";
import { toast } from "../../shell/toasts";
import { NewKeyDialog } from "./NewKeyDialog";

/** `open`: this server requires no key, but keys created here work on servers that do. */
export function Keys({ open }: { open: boolean }) {
  const { data, error, reload } = useResource<{ keys: Key[] }>("/keys", { namespace: null });
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<Key>();
  return (
    <section className="stack tight" aria-labelledby="keys">
      <header className="row">
        <h2 id="keys" className="grow">
          API keys
        </h2>
        <Button icon="plus" onClick={() => setMaking(true)}>
          New key
        </Button>
      </header>
      {open && (
        <p className="muted">
          This server accepts local connections only and requires no keys. <code>plait serve</code> requires them.
        </p>
      )}
      {error && <ErrorBox error={error} />}
      {!data && !error && <Loading what="Loading keys" />}
      {data?.keys.length === 0 && (
        <Empty title="No keys yet">Create one for each person and program that uses this server.</Empty>
      )}
      {data && data.keys.length > 0 && <KeyTable keys={data.keys} onRevoke={setRevoking} />}
      {making && <NewKeyDialog onClose={() => setMaking(false)} onMade={reload} />}
      {revoking && <Revoke target={revoking} onClose={() => setRevoking(undefined)} onDone={reload} />}
    </section>
  );
}

function KeyTable({ keys, onRevoke }: { keys: Key[]; onRevoke: (key: Key) => void }) {
  return (
    <div className="card settings-scroll">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Role</th>
            <th scope="col">Namespace</th>
            <th scope="col">Created</th>
            <th scope="col">Last used</th>
            <th scope="col">Expires</th>
            <th scope="col">Quota</th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <KeyRow key={key.id} entry={key} onRevoke={onRevoke} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function KeyRow({ entry, onRevoke }: { entry: Key; onRevoke: (key: Key) => void }) {
  const expired = useNow() > (entry.expires_at ?? Number.POSITIVE_INFINITY);
  const over = entry.revoked_at !== undefined ? "revoked" : expired ? "expired" : undefined;
  return (
    <tr className={over ? "settings-over" : undefined}>
      <td>
        {entry.name} {over && <span className="chip">{over}</span>}
        <div className="mono faint">{entry.id}</div>
      </td>
      <td>{entry.role}</td>
      <td>{entry.namespace === "*" ? "all" : entry.namespace}</td>
      <td>
        <Ago at={entry.created_at} />
      </td>
      <td>
        {entry.last_used_at === undefined ? <span className="faint">never</span> : <Ago at={entry.last_used_at} />}
      </td>
      <td>{entry.expires_at === undefined ? <span className="faint">never</span> : <Ago at={entry.expires_at} />}</td>
      <td>{quota(entry) ?? <span className="faint">none</span>}</td>
      <td>
        {!over && (
          <Button look="danger" className="small" onClick={() => onRevoke(entry)} aria-label={`Revoke ${entry.name}`}>
            Revoke
          </Button>
        )}
      </td>
    </tr>
  );
}

function quota({ start_rate, max_running }: Key): string | undefined {
  const starts = start_rate === undefined ? [] : [`${start_rate} starts/s`];
  const running = max_running === undefined ? [] : [`${max_running} at once`];
  return [...starts, ...running].join(", ") || undefined;
}

function Revoke({ target, onClose, onDone }: { target: Key; onClose: () => void; onDone: () => void }) {
  const { busy, error, send } = useRequest();
  const path = `/keys/${encodeURIComponent(target.id)}`;
  const revoke = async () => {
    await api.delete(path, { namespace: null });
    toast({ kind: "ok", text: `Revoked ${target.name}` });
    onDone();
    onClose();
  };
  return (
    <Dialog
      title="Revoke this key?"
      onClose={onClose}
      onSubmit={() => send(revoke)}
      footer={
        <>
          <CopyAs up action={{ method: "DELETE", path, cli: `plait keys revoke ${sh(target.id)}` }} />
          <span className="grow" />
          <Button onClick={onClose}>Back</Button>
          <Button type="submit" look="danger" busy={busy} data-autofocus>
            Revoke
          </Button>
        </>
      }
    >
      <p>
        <strong>{target.name}</strong> stops working immediately. This can't be undone.
      </p>
      {error && <ErrorBox error={error} />}
    </Dialog>
  );
}
