/** Where a node leads and what leads to it, for those who don't drag. */

import { IconButton } from "../../../components/Button";
import { Field } from "../../../components/Field";
import type { Route } from "./source";

interface Props {
  id: string;
  ids: readonly string[];
  routes: readonly Route[];
  onConnect: (target: string) => void;
  onDisconnect: (route: Route) => void;
  onSelect: (id: string) => void;
}

export function RouteList({ id, ids, routes, onConnect, onDisconnect, onSelect }: Props) {
  const out = routes.filter(({ source }) => source === id);
  const into = routes.filter(({ source, target }) => target === id && source !== id);
  return (
    <section className="stack tight" aria-label="Routes">
      <ul className="ed-routes">
        {out.map((route) => (
          <RouteItem key={route.pointer} route={route} way="to" onSelect={onSelect} onDisconnect={onDisconnect} />
        ))}
        {into.map((route) => (
          <RouteItem key={route.pointer} route={route} way="from" onSelect={onSelect} onDisconnect={onDisconnect} />
        ))}
      </ul>
      <Field label="Connect to">
        {(wired) => (
          <select className="input" {...wired} value="" onChange={(event) => onConnect(event.target.value)}>
            <option value="">Choose a node…</option>
            {ids.map((one) => (
              <option key={one} value={one}>
                {one === id ? `${one} (loop)` : one}
              </option>
            ))}
          </select>
        )}
      </Field>
    </section>
  );
}

interface ItemProps {
  route: Route;
  way: "to" | "from";
  onSelect: (id: string) => void;
  onDisconnect: (route: Route) => void;
}

export function RouteItem({ route, way, onSelect, onDisconnect }: ItemProps) {
  const other = way === "to" ? route.target : route.source;
  return (
    <li className="row">
      <span className="faint">{way === "to" ? "leads to" : "comes from"}</span>
      <button type="button" className="ed-link" onClick={() => onSelect(other)}>
        {other}
      </button>
      <span className="muted clip grow" title={route.label}>
        {route.label}
      </span>
      <IconButton
        icon="close"
        className="small"
        label={`Remove the route ${way} ${other}`}
        onClick={() => onDisconnect(route)}
      />
    </li>
  );
}
