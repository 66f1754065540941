/** Starting a run: pick a definition, fill in its input, check it if you like, start. */

import { useMemo } from "react";
import type { Definition } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { Button } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { Loading } from "../../shell/fallbacks";
import { allows, useMe } from "../../shell/me";
import { Page } from "../../shell/page";
import { Link, useQuery } from "../../shell/router";
import { usualReference } from "../definitions/versions";
import { DefinitionPicker } from "./DefinitionPicker";
import { StartForm } from "./StartForm";
import "./start.css";

export default function Start() {
  const me = useMe();
  const [query, setQuery] = useQuery();
  const { data, error, reload } = useResource<{ definitions: Definition[] }>("/definitions");
  const wanted = query.get("definition") ?? "";
  const [name, reference] = useMemo(() => parted(wanted, data?.definitions ?? []), [wanted, data]);
  const definition = data?.definitions.find((one) => one.name === name);
  const pick = (next: string) => setQuery({ definition: next }, { push: true });
  return (
    <Page title="New run">
      {!allows(me, "operator") && (
        <p className="muted">Your role is {me.role}. Starting runs requires the operator, editor or admin role.</p>
      )}
      {error && (
        <ErrorBox error={error}>
          <Button onClick={reload}>Try again</Button>
        </ErrorBox>
      )}
      {!data && !error && <Loading what="Loading definitions" />}
      {data && !definition && (
        <p className="muted">
          To run a goal instead, <Link to="/catalog?tab=plan">plan it</Link> from the catalog of steps.
        </p>
      )}
      {data && data.definitions.length === 0 && <NothingToStart />}
      {data && data.definitions.length > 0 && !definition && (
        <DefinitionPicker definitions={data.definitions} missing={wanted} onPick={pick} />
      )}
      {definition && (
        <StartForm
          key={definition.name}
          definition={definition}
          reference={reference || usualReference(definition)}
          onReference={(next) => setQuery({ definition: next ? `${definition.name}@${next}` : definition.name })}
          onOther={() => setQuery({ definition: undefined }, { push: true })}
        />
      )}
    </Page>
  );
}

/** `order@stable` as its name and its version or tag; a name may hold an @ itself. */
function parted(wanted: string, definitions: Definition[]): [string, string] {
  if (definitions.some(({ name }) => name === wanted)) return [wanted, ""];
  const at = wanted.lastIndexOf("@");
  return at < 0 ? [wanted, ""] : [wanted.slice(0, at), wanted.slice(at + 1)];
}

function NothingToStart() {
  return (
    <Empty icon="definitions" title="No definitions yet" command="plait dev yourmodule">
      Give the server a module with workflows; each @workflow function in it can be started here.
    </Empty>
  );
}
