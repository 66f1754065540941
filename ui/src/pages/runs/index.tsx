/** The list of runs: live, filtered by what the URL says. */

import { useMemo, useState } from "react";
import { useLiveRuns } from "../../api/live";
import type { Run } from "../../api/types";
import { Button, LinkButton } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { Loading } from "../../shell/fallbacks";
import { allows, useMe } from "../../shell/me";
import { Page } from "../../shell/page";
import { useQuery } from "../../shell/router";
import { CompareBar } from "./CompareBar";
import { Filters } from "./Filters";
import { type Filter, fromUrl, isEmpty, NO_FILTER, toApi, toUrl } from "./filter";
import { RunTable } from "./RunTable";
import { useListKeys } from "./use-list-keys";
import { merged, PAGE, useOlder } from "./use-older-runs";
import { ViewTabs } from "./ViewTabs";
import "./runs.css";

export default function Runs() {
  const [query, setQuery] = useQuery();
  const search = query.toString();
  const filter = useMemo(() => fromUrl(new URLSearchParams(search)), [search]);
  const setFilter = (next: Filter) => setQuery(toUrl(next));
  const me = useMe();
  const list = useRuns(filter);
  const [selected, setSelected] = useState<string[]>([]);
  // Two can be compared: a third takes the place of the first.
  const toggle = (id: string) =>
    setSelected((old) => (old.includes(id) ? old.filter((one) => one !== id) : [...old.slice(-1), id]));
  useListKeys(toggle);
  const mayStart = allows(me, "operator");
  return (
    <Page
      title="Runs"
      actions={
        mayStart && (
          <LinkButton to="/runs/new" look="primary" icon="plus" title="New run (n)">
            New run
          </LinkButton>
        )
      }
    >
      <div className="runs-tools">
        <ViewTabs filter={filter} onFilter={setFilter} />
        <Filters filter={filter} onFilter={setFilter} />
      </div>
      {list.problem && <ErrorBox error={list.problem} />}
      {list.runs === undefined && !list.problem && <Loading what="Loading the runs" />}
      {list.runs?.length === 0 && <NoRuns filter={filter} onFilter={setFilter} mayStart={mayStart} />}
      {list.runs && list.runs.length > 0 && (
        <RunTable
          runs={list.runs}
          selected={selected}
          onToggle={toggle}
          onLabel={(label) => setFilter({ ...filter, labels: [...new Set([...filter.labels, label])] })}
        />
      )}
      {list.more && (
        <div className="runs-more">
          <Button busy={list.busy} onClick={list.load}>
            Load older runs
          </Button>
        </div>
      )}
      <CompareBar selected={selected} onClear={() => setSelected([])} />
    </Page>
  );
}

function useRuns(filter: Filter) {
  const asked = useMemo(() => toApi(filter), [filter]);
  const live = useLiveRuns({ ...asked, limit: PAGE });
  const older = useOlder(asked, `${JSON.stringify(asked)} ${live.snapshot}`, live.runs?.length ?? 0);
  const runs = useMemo(
    (): Run[] | undefined => live.runs && merged(live.runs, older.runs, live.gone),
    [live.runs, live.gone, older.runs],
  );
  return { runs, problem: live.problem, more: older.more, busy: older.busy, load: older.load };
}

interface NoRunsProps {
  filter: Filter;
  onFilter: (filter: Filter) => void;
  mayStart: boolean;
}

function NoRuns({ filter, onFilter, mayStart }: NoRunsProps) {
  if (!isEmpty(filter)) {
    return (
      <Empty
        icon="search"
        title="No runs match this filter"
        action={<Button onClick={() => onFilter(NO_FILTER)}>Show all runs</Button>}
      >
        New matches appear here automatically.
      </Empty>
    );
  }
  return (
    <Empty
      icon="runs"
      title="No runs yet"
      action={
        mayStart && (
          <LinkButton to="/runs/new" look="primary" icon="plus">
            Start a run
          </LinkButton>
        )
      }
      command="plait run app.py:my_workflow --input '{}'"
    >
      Runs appear here as soon as they start, from this page, the command line or your code.
    </Empty>
  );
}
