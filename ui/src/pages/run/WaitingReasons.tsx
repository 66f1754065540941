/** Why the run is not moving, in words. */

import type { Approval, Reason, RunDetail } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { Button } from "../../components/Button";
import { ErrorBox } from "../../components/ErrorBox";
import { Icon, type IconName } from "../../components/Icon";
import { Ago } from "../../components/Time";
import { waitLead } from "../../components/wait-words";
import { Link } from "../../shell/router";
import type { Asked } from "./actions/requests";

interface WaitingProps {
  detail: RunDetail;
  onNode: (id: string) => void;
  onAction: (asked: Asked) => void;
}

const ICONS: { [kind: string]: IconName } = {
  retry: "retry",
  sleep: "clock",
  timer: "clock",
  message: "message",
  approval: "approvals",
  child: "child",
  dead_letter: "letters",
  blocked: "warning",
  stuck: "warning",
};
const FEW = 4;

export function WaitingReasons({ detail, onNode, onAction }: WaitingProps) {
  const { run, waiting = [], actions } = detail;
  if (run.status !== "running") return null;
  if (run.blocked) {
    return (
      <ErrorBox error={run.blocked} title="This run is blocked">
        {actions.includes("resume") && (
          <Button icon="resume" onClick={() => onAction({ action: "resume" })}>
            Resume
          </Button>
        )}
      </ErrorBox>
    );
  }
  if (waiting.length === 0) return null;
  return (
    <section className="waiting" aria-label="Why it is waiting">
      <h2 className="visually-hidden">Why it is waiting</h2>
      <ul>
        {waiting.slice(0, FEW).map((reason) => (
          <Why
            key={`${reason.kind} ${reason.text}`}
            reason={reason}
            detail={detail}
            onNode={onNode}
            onAction={onAction}
          />
        ))}
      </ul>
      {waiting.length > FEW && <p className="faint">and {waiting.length - FEW} more</p>}
    </section>
  );
}

function Why({ reason, detail, onNode, onAction }: WaitingProps & { reason: Reason }) {
  const { kind, text, node, until } = reason;
  return (
    <li className="why">
      <Icon name={ICONS[kind] ?? "play"} />
      <span className="why-text">
        <span className="faint">{waitLead(reason)}</span>{" "}
        <Named text={text} node={node} words={node ? wordsOf(detail, node) : ""} onNode={onNode} />
        {until !== undefined && (
          <span className="muted">
            {" "}
            · <Ago at={until} />
          </span>
        )}
      </span>
      {kind === "dead_letter" && (
        <Link className="text" to={`/dlq?run=${encodeURIComponent(detail.run.id)}`}>
          Open dead letter
        </Link>
      )}
      {kind === "approval" && <Decide detail={detail} node={node} />}
      {kind === "message" && detail.actions.includes("message") && (
        <Button look="ghost" className="small" onClick={() => onAction({ action: "message", name: messageName(text) })}>
          Send message
        </Button>
      )}
    </li>
  );
}

function Decide({ detail: { run, view }, node }: { detail: RunDetail; node: string | undefined }) {
  const { data } = useResource<{ approvals: Approval[] }>(`/approvals?run=${encodeURIComponent(run.id)}`);
  // Of a node that asks more than once, an approval has a token of its own.
  const token = view.nodes.find(({ id }) => id === node)?.token;
  const asked = data?.approvals.find((approval) => approval.node === node || approval.node === token);
  if (!asked) return null;
  return (
    <Link className="text" to={`/approvals/${encodeURIComponent(asked.id)}`}>
      Decide
    </Link>
  );
}

interface NamedProps {
  text: string;
  node: string | undefined;
  /** What people call the node. */
  words: string;
  onNode: (id: string) => void;
}

/** The text with its `names` set apart; the one of the node selects it. */
function Named({ text, node, words, onNode }: NamedProps) {
  let seen = 0;
  return text.split(/(`[^`]*`)/).map((part) => {
    seen += 1;
    if (!part.startsWith("`")) return part;
    const name = part.slice(1, -1);
    if (node === undefined || name !== node) return <code key={`${seen} ${part}`}>{name}</code>;
    return (
      <button key={`${seen} ${part}`} type="button" className="why-node" onClick={() => onNode(node)}>
        {words}
      </button>
    );
  });
}

/** "parcels / loop 2 / ship", where its id is a path of tokens. */
function wordsOf({ view }: RunDetail, id: string): string {
  return view.nodes.find((node) => node.id === id)?.path || id;
}

function messageName(text: string): string {
  return /`([^`]+)`/.exec(text)?.[1] ?? "";
}
