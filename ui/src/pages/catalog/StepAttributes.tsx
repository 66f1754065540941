/** Inputs and outputs of a step: each attribute with its role, type and rules, and the steps at the other end. */

import type { ReactNode } from "react";
import type { Step } from "../../api/goals";
import { Link } from "../../shell/router";
import { type CatalogIndex, type Port, ports } from "./catalog-index";
import { collectWords, deadlineWords } from "./descriptions";
import { ScriptText } from "./ScriptText";

interface StepAttributesProps {
  step: Step;
  catalog: CatalogIndex;
  to: (id: string) => string;
}

export function StepAttributes({ step, catalog, to }: StepAttributesProps) {
  const { inputs, outputs } = ports(step);
  return (
    <>
      <section className="stack tight" aria-label="Inputs">
        <h3>Inputs</h3>
        {inputs.length === 0 && <p className="muted">No inputs.</p>}
        <ul className="ports">
          {inputs.map((port) => (
            <PortLine key={port.name} port={port}>
              {(port.attribute.role === "required" || port.attribute.role === "optional") && (
                <Ends
                  words="from"
                  none={port.attribute.role === "required" ? "no provider: required as input" : "no provider"}
                  ids={catalog.links[port.name]?.providers}
                  to={to}
                />
              )}
            </PortLine>
          ))}
        </ul>
      </section>
      <section className="stack tight" aria-label="Outputs">
        <h3>Outputs</h3>
        {outputs.length === 0 && <p className="muted">No outputs.</p>}
        <ul className="ports">
          {outputs.map((port) => (
            <PortLine key={port.name} port={port}>
              <Ends words="to" none="no consumer" ids={catalog.links[port.name]?.consumers} to={to} />
            </PortLine>
          ))}
        </ul>
      </section>
    </>
  );
}

function PortLine({ port, children }: { port: Port; children: ReactNode }) {
  const { name, attribute, detail } = port;
  const { mapping, match } = detail;
  const rules: [string, ReactNode][] = [];
  const rule = (word: string, value: ReactNode) => value !== undefined && value !== "" && rules.push([word, value]);
  rule("default", code(detail.default));
  rule("value", code(detail.value));
  rule("key", code(detail.key));
  rule("collects", collectWords(detail));
  rule("deadline", deadlineWords(detail));
  rule("inside", code(mapping?.name));
  return (
    <li className="port">
      <div className="row wrap">
        <code className="port-name">{name}</code>
        <span className={`chip role-${attribute.role}`}>{attribute.role}</span>
        <span className="faint">{attribute.type ?? "any"}</span>
        {detail.for_each && (
          <span className="chip" title="Each element of the list is a separate work item">
            for each
          </span>
        )}
        {detail.collect && detail.collect !== "first" && <span className="chip">{detail.collect}</span>}
      </div>
      {rules.length > 0 && (
        <dl className="port-rules">
          {rules.map(([word, value]) => (
            <div key={word}>
              <dt>{word}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {match && <ScriptText title="match" script={match} />}
      {mapping?.script && <ScriptText title="mapping" script={mapping.script} />}
      {children}
    </li>
  );
}

function code(text: string | undefined): ReactNode {
  return text ? <code>{text}</code> : undefined;
}

const FEW = 12;

function Ends({
  words,
  none,
  ids = [],
  to,
}: {
  words: string;
  none: string;
  ids?: string[];
  to: (id: string) => string;
}) {
  if (ids.length === 0) return <p className="faint port-ends">{none}</p>;
  return (
    <p className="port-ends">
      <span className="faint">{words}</span>
      {ids.slice(0, FEW).map((id) => (
        <Link key={id} className="text mono" to={to(id)}>
          {id}
        </Link>
      ))}
      {ids.length > FEW && <span className="faint">and {ids.length - FEW} more</span>}
    </p>
  );
}
