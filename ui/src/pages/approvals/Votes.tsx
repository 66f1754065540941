/** Who voted for what, and when. */

import type { Approval } from "../../api/types";
import { Ago } from "../../components/Time";

export function Votes({ votes }: { votes: NonNullable<Approval["votes"]> }) {
  if (votes.length === 0) return null;
  return (
    <section className="stack tight" aria-label="Votes">
      <h3>Votes</h3>
      <ul className="votes">
        {votes.map((vote) => (
          <li key={vote.by}>
            <span>
              <strong>{vote.by || "Someone"}</strong> {vote.decision === "approve" ? "approved" : "rejected"}{" "}
              <span className="faint">
                <Ago at={vote.at} />
              </span>
            </span>
            {vote.comment && <blockquote className="muted">{vote.comment}</blockquote>}
          </li>
        ))}
      </ul>
    </section>
  );
}
