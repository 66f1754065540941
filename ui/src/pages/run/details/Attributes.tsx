/** The attributes of a run: every value of each name, which step set it and when, and which one is used. */

import { useState } from "react";
import { Button } from "../../../components/Button";
import { Empty } from "../../../components/Empty";
import { absolute, clock } from "../../../components/format";
import { Icon } from "../../../components/Icon";
import { Json } from "../../../components/Json";
import type { AttributeValue, Details } from "./details";
import { type Mark, markOf, namesOf } from "./outcomes";
import "./details.css";

const PORTION = 100;

interface AttributesProps {
  details: Details;
  onNode: (id: string) => void;
}

export default function Attributes({ details, onNode }: AttributesProps) {
  const [text, setText] = useState("");
  const [shown, setShown] = useState(PORTION);
  const all = Object.keys(details.attributes ?? {});
  const names = namesOf(details, text);
  if (all.length === 0) {
    return (
      <Empty icon="clock" title="No attributes yet">
        Values appear here as steps provide them.
      </Empty>
    );
  }
  return (
    <div className="attributes">
      <div className="row wrap">
        <input
          type="search"
          className="input attributes-search"
          aria-label="Search attributes"
          placeholder="Search by name or provider"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <span className="faint" role="status">
          {names.length === all.length ? `${all.length} attributes` : `${names.length} of ${all.length} attributes`}
        </span>
      </div>
      {names.length === 0 && <p className="muted">No matching attributes.</p>}
      {names.slice(0, shown).map((name) => (
        <section key={name} className="card attribute" aria-label={`Attribute ${name}`}>
          <h2 className="mono">{name}</h2>
          <ol>
            {(details.attributes?.[name] ?? []).map((one, index) => (
              <Value
                // biome-ignore lint/suspicious/noArrayIndexKey: values are only ever added
                key={index}
                name={name}
                one={one}
                mark={markOf(details, name, index)}
                onNode={onNode}
              />
            ))}
          </ol>
        </section>
      ))}
      {names.length > shown && (
        <Button onClick={() => setShown(shown + PORTION)}>{names.length - shown} more attributes</Button>
      )}
    </div>
  );
}

interface ValueProps {
  name: string;
  one: AttributeValue;
  mark: Mark;
  onNode: (id: string) => void;
}

function Value({ name, one, mark, onNode }: ValueProps) {
  return (
    <li className={`attribute-value ${mark}`}>
      <div className="attribute-from">
        <Provider step={one.step} onNode={onNode} />
        {mark === "winner" && (
          <span className="chip attribute-winner" title="Steps use this value">
            <Icon name="check" size={12} />
            taken
          </span>
        )}
        {mark === "late" && (
          <span className="chip" title="Another value came first; this one is not used">
            late
          </span>
        )}
        <time className="faint" dateTime={new Date(one.set_at).toISOString()} title={absolute(one.set_at)}>
          {clock(one.set_at)}
        </time>
      </div>
      <Json value={one.value} label={`${name} from ${one.step ?? "init"}`} />
    </li>
  );
}

function Provider({ step, onNode }: { step: string | undefined; onNode: (id: string) => void }) {
  if (step === undefined) {
    return (
      <span className="chip" title="Input of the run">
        init
      </span>
    );
  }
  if (step === "patch") {
    return (
      <span className="chip" title="Set by a patch">
        patch
      </span>
    );
  }
  return (
    <button type="button" className="why-node" title={`Show ${step}`} onClick={() => onNode(step)}>
      {step}
    </button>
  );
}
