/** The tokens of a run: how many are in flight and where, what joins wait for, and the way they took, in order. */

import { Empty } from "../../../components/Empty";
import type { TokenFlow } from "./details";
import "./details.css";

interface Props {
  flow: TokenFlow;
  onNode: (id: string) => void;
}

export default function Path({ flow, onNode }: Props) {
  const { counter, path, tokens, joins } = flow;
  return (
    <div className="run-path">
      <section className="stack tight" aria-label="Tokens in flight">
        <h2>
          {counter} {counter === 1 ? "token" : "tokens"} in flight
        </h2>
        <ul className="path-tokens">
          {tokens.map(({ id, node, from, hop, loops, parked }) => (
            <li key={id}>
              <NodeButton id={node} onNode={onNode} />
              <span className="muted">
                {from ? `from ${from}, ` : ""}hop {hop}
                {Object.entries(loops).map(([loop, n]) => `, iteration ${n} of ${loop}`)}
                {parked ? ", parked" : ""}
              </span>
            </li>
          ))}
          {joins.map(({ node, has, waits_for }) => (
            <li key={`${node} ${has.join()}`}>
              Join <NodeButton id={node} onNode={onNode} />
              <span className="muted">
                has {has.join(", ")}; waits for {waits_for.join(", ") || "nothing"}
              </span>
            </li>
          ))}
        </ul>
      </section>
      <section className="stack tight" aria-label="Path">
        <h2>Path</h2>
        {path.length === 0 ? (
          <Empty title="No token has moved yet" />
        ) : (
          <ol className="path-steps">
            {path.map(({ token, node, from, hop, iteration }, index) => (
              <li key={token}>
                <span className="faint path-number">{index + 1}</span>
                <NodeButton id={node} onNode={onNode} />
                <span className="muted">
                  {from ? `from ${from}` : "entry"}, hop {hop}
                  {iteration > 1 ? `, iteration ${iteration}` : ""}
                </span>
              </li>
            ))}
          </ol>
        )}
      </section>
    </div>
  );
}

function NodeButton({ id, onNode }: { id: string; onNode: (id: string) => void }) {
  return (
    <button type="button" className="why-node" onClick={() => onNode(id)}>
      {id}
    </button>
  );
}
