/** The ways between two nodes: their conditions, and how to be without them. */

import type { Json } from "../../../api/types";
import { Button, IconButton } from "../../../components/Button";
import { TextField } from "../../../components/Field";
import { valueAt } from "../json-patch";
import { below, type Problem } from "../problems";
import { fieldsOf, type Route, textOf } from "./source";

interface Props {
  graph: Json;
  routes: readonly Route[];
  problems: Problem[];
  onCondition: (route: Route, condition: string | undefined) => void;
  onDisconnect: (route: Route) => void;
  onSelect: (id: string | undefined) => void;
}

export function RoutePanel({ graph, routes, problems, onCondition, onDisconnect, onSelect }: Props) {
  const [first] = routes;
  if (!first) return null;
  return (
    <aside className="ed-panel" aria-label={`Route from ${first.source} to ${first.target}`}>
      <header className="ed-panel-head">
        <h2 className="clip grow">
          {first.source} → {first.target}
        </h2>
        <IconButton icon="close" label="Close" onClick={() => onSelect(undefined)} />
      </header>
      {routes.map((route) => {
        const edge = route.pointer.startsWith("/edges/");
        const condition = fieldsOf(valueAt(graph, route.pointer)).condition;
        return (
          <section key={route.pointer} className="ed-part stack tight" aria-label={KINDS[route.kind]}>
            <p className="muted">{KINDS[route.kind]}</p>
            {edge && (condition === undefined || typeof condition === "string") && (
              <TextField
                label="Condition"
                hint="CEL, such as output.total > 100. Of several routes the first that is true is taken; those without a condition are the default."
                error={below(problems, route.pointer)[0]?.message}
                value={textOf(condition) ?? ""}
                onChange={(event) => onCondition(route, event.target.value || undefined)}
              />
            )}
            <div className="row wrap">
              {!edge && (
                <Button className="small" onClick={() => onSelect(route.source)}>
                  Edit it at {route.source}
                </Button>
              )}
              <Button className="small" icon="trash" onClick={() => onDisconnect(route)}>
                Remove
              </Button>
            </div>
          </section>
        );
      })}
    </aside>
  );
}

const KINDS: { [kind in Route["kind"]]: string } = {
  edge: "Edge",
  rule: "Rule of a branch",
  default: "Where a branch goes if no rule is true",
  choice: "What an agent may choose",
  loop: "Back to go round again",
  break: "Where it goes when the loop ends",
  timeout: "Where it goes after the last iteration",
  reject: "Where it goes if rejected",
};
