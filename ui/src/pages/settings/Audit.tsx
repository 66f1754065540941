/** Who did what, newest first, page by page. */

import { useState } from "react";
import { api } from "../../api/client";
import { withQuery } from "../../api/namespace";
import type { AuditEntry, AuditPage } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { useResource } from "../../api/use-resource";
import { Button } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { Icon } from "../../components/Icon";
import { Ago } from "../../components/Time";
import { Loading } from "../../shell/fallbacks";

const PAGE = 50;

function path(cursor?: string): string {
  return withQuery("/audit", { limit: PAGE, cursor });
}

export function Audit() {
  const first = useResource<AuditPage>(path(), { namespace: null });
  const [older, setOlder] = useState<AuditPage[]>([]);
  const { busy, error, send } = useRequest();
  const pages = first.data ? [first.data, ...older] : [];
  const next = pages.at(-1)?.next;
  const more = async (cursor: string) => {
    const page = await api.get<AuditPage>(path(cursor), { namespace: null });
    setOlder((old) => [...old, page]);
  };
  const refresh = () => {
    setOlder([]);
    first.reload();
  };
  const entries = pages.flatMap((page) => page.entries);
  const problem = first.error ?? error;
  return (
    <section className="stack tight" aria-labelledby="audit">
      <header className="row">
        <h2 id="audit" className="grow">
          Audit log
        </h2>
        <Button look="ghost" icon="retry" onClick={refresh}>
          Refresh
        </Button>
      </header>
      {problem && <ErrorBox error={problem} />}
      {!first.data && !problem && <Loading what="Loading the audit log" />}
      {first.data && entries.length === 0 && (
        <Empty title="No entries yet">Changes and refused requests are listed here.</Empty>
      )}
      {entries.length > 0 && <Entries entries={entries} />}
      {next !== undefined && (
        <div>
          <Button busy={busy} onClick={() => send(() => more(next))}>
            Older
          </Button>
        </div>
      )}
    </section>
  );
}

function Entries({ entries }: { entries: AuditEntry[] }) {
  return (
    <div className="card settings-scroll">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">User</th>
            <th scope="col">Action</th>
            <th scope="col">Target</th>
            <th scope="col">Outcome</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.id}>
              <td className="settings-when">
                <Ago at={entry.at} />
              </td>
              <td>
                {entry.who || <span className="faint">unknown</span>} <span className="faint">{entry.role}</span>
              </td>
              <td className="mono">{entry.action}</td>
              <td className="mono settings-target">
                {entry.target}
                {entry.namespace && <span className="faint"> in {entry.namespace}</span>}
              </td>
              <td>
                <span className={entry.outcome === "ok" ? "settings-outcome ok" : "settings-outcome refused"}>
                  <Icon name={entry.outcome === "ok" ? "check" : "warning"} size={14} />
                  {entry.outcome}
                </span>{" "}
                {entry.code && <code className="faint">{entry.code}</code>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
