/** One definition: what it takes and gives, its versions, their source and the difference of any two, its tags. */

import { useState } from "react";
import type { Definition } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { Button, LinkButton } from "../../components/Button";
import { ErrorBox } from "../../components/ErrorBox";
import { Loading } from "../../shell/fallbacks";
import { allows, useMe } from "../../shell/me";
import { Page } from "../../shell/page";
import { Link } from "../../shell/router";
import { editorOf } from "../editor/editors";
import { DeleteDefinition } from "./DeleteDefinition";
import { LoadedBadge } from "./LoadedBadge";
import { SchemaTable } from "./SchemaTable";
import { Tags } from "./Tags";
import { Versions } from "./Versions";
import { definitionPath } from "./versions";

export function DefinitionPage({ name }: { name: string }) {
  const { data, error, reload } = useResource<Definition>(`/definitions/${encodeURIComponent(name)}`);
  // An answer to a change of tags is the newest there is.
  const [changed, setChanged] = useState<Definition>();
  const definition = changed ?? data;
  const me = useMe();
  const may = allows(me, "operator");
  const [deleting, setDeleting] = useState(false);
  return (
    <Page
      title={name}
      head={
        <div className="row grow definition-head">
          <Link className="text" to="/definitions">
            Definitions
          </Link>
          <span className="faint">/</span>
          <h1 className="clip">{name}</h1>
          {definition && <span className="chip">{definition.dialect}</span>}
          {definition && <LoadedBadge loaded={definition.loaded} />}
        </div>
      }
      actions={
        definition && (
          <>
            <LinkButton to={`/runs?definition=${encodeURIComponent(name)}`} icon="runs">
              View runs
            </LinkButton>
            {editorOf(definition.dialect) && (
              <LinkButton to={`${definitionPath(definition.owner ?? name)}/edit`} icon="edit">
                Edit
              </LinkButton>
            )}
            {definition.saved && allows(me, "editor") && (
              <Button look="danger" icon="trash" onClick={() => setDeleting(true)}>
                Delete
              </Button>
            )}
            {may && definition.loaded && (
              <LinkButton to={`/runs/new?definition=${encodeURIComponent(name)}`} look="primary" icon="play">
                Start a run
              </LinkButton>
            )}
          </>
        )
      }
    >
      {error && !definition && (
        <ErrorBox error={error}>
          <Button onClick={reload}>Try again</Button>
        </ErrorBox>
      )}
      {!definition && !error && <Loading what={name} />}
      {definition && <Body definition={definition} onChange={setChanged} />}
      {definition && deleting && <DeleteDefinition definition={definition} onClose={() => setDeleting(false)} />}
    </Page>
  );
}

function Body({ definition, onChange }: { definition: Definition; onChange: (next: Definition) => void }) {
  return (
    <>
      {definition.doc ? (
        <p className="definitions-text">{definition.doc.trim()}</p>
      ) : (
        <p className="faint">No description. Add a docstring to show one here.</p>
      )}
      <Parts definition={definition} />
      <div className="definitions-schemas">
        <SchemaTable value={definition.input_schema} title="Input" none="No input schema: any JSON is accepted." />
        <SchemaTable value={definition.output_schema} title="Output" none="No output schema." />
      </div>
      {definition.owner === undefined && <Tags definition={definition} onChange={onChange} />}
      <Versions definition={definition} />
    </>
  );
}

/** What it is a part of, and what is in it that can be started by itself. */
function Parts({ definition: { owner, offers = [] } }: { definition: Definition }) {
  if (owner !== undefined) {
    return (
      <p>
        Part of <Link to={definitionPath(owner)}>{owner}</Link>, and has its versions and tags.
      </p>
    );
  }
  if (offers.length === 0) return null;
  return (
    <p className="row wrap">
      Can be started by name:
      {offers.map((name) => (
        <Link key={name} className="chip" to={definitionPath(name)}>
          {name}
        </Link>
      ))}
    </p>
  );
}
