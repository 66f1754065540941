/** What can be started: each definition with its versions and tags. */

import type { Definition } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { Button, LinkButton } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { Loading } from "../../shell/fallbacks";
import { allows, useMe } from "../../shell/me";
import { Page } from "../../shell/page";
import { Link, useQuery } from "../../shell/router";
import { editable } from "../editor/editors";
import { LoadedBadge } from "./LoadedBadge";
import { definitionPath, firstLine, matches, versionsOf } from "./versions";

export function DefinitionList() {
  const [query, setQuery] = useQuery();
  const q = query.get("q") ?? "";
  const { data, error, reload } = useResource<{ definitions: Definition[] }>("/definitions");
  const all = data?.definitions;
  const found = all?.filter((definition) => matches(definition, q));
  return (
    <Page title="Definitions" actions={<NewButtons />}>
      {error && (
        <ErrorBox error={error}>
          <Button onClick={reload}>Try again</Button>
        </ErrorBox>
      )}
      {!all && !error && <Loading what="Loading definitions" />}
      {all?.length === 0 && (
        <Empty icon="definitions" title="No definitions yet" command="plait dev yourmodule">
          Give the server a module with workflows, and each @workflow function in it is listed here; or draw a new
          definition.
        </Empty>
      )}
      {all && all.length > 0 && (
        <>
          <input
            type="search"
            className="input definitions-search"
            placeholder="Search definitions"
            aria-label="Search definitions"
            value={q}
            onChange={(event) => setQuery({ q: event.target.value })}
          />
          {found?.length === 0 ? (
            <Empty
              icon="search"
              title={`No definitions match “${q}”`}
              action={<Button onClick={() => setQuery({ q: "" })}>Show all</Button>}
            />
          ) : (
            <Table definitions={found ?? []} />
          )}
        </>
      )}
    </Page>
  );
}

function NewButtons() {
  if (!allows(useMe(), "editor")) return null;
  return editable().map(([dialect, { noun }]) => (
    <LinkButton key={dialect} to={`/new/${dialect}`} icon="plus">
      New {noun}
    </LinkButton>
  ));
}

function Table({ definitions }: { definitions: Definition[] }) {
  const may = allows(useMe(), "operator");
  return (
    <div className="card definitions-scroll">
      <table className="table definitions-table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Dialect</th>
            <th scope="col">Latest</th>
            <th scope="col">Versions</th>
            <th scope="col">Tags</th>
            <th scope="col">Loaded</th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {definitions.map((definition) => (
            <Row key={`${definition.dialect} ${definition.name}`} definition={definition} may={may} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ definition, may }: { definition: Definition; may: boolean }) {
  const { name, dialect, version, loaded, doc } = definition;
  return (
    <tr>
      <td>
        <Link className="definitions-name" to={definitionPath(name)}>
          {name}
        </Link>
        {doc && <div className="muted definitions-doc">{firstLine(doc)}</div>}
      </td>
      <td>
        <span className="chip">{dialect}</span>
      </td>
      <td className="mono">{version?.slice(0, 12)}</td>
      <td>{versionsOf(definition).length}</td>
      <td>
        <span className="row wrap">
          {Object.keys(definition.tags ?? {}).map((tag) => (
            <span key={tag} className="chip">
              {tag}
            </span>
          ))}
        </span>
      </td>
      <td>
        <LoadedBadge loaded={loaded} />
      </td>
      <td className="definitions-act">
        {may && loaded && (
          <LinkButton
            to={`/runs/new?definition=${encodeURIComponent(name)}`}
            icon="play"
            look="ghost"
            title={`Start a run of ${name}`}
          >
            Start
          </LinkButton>
        )}
      </td>
    </tr>
  );
}
