/**
 * The difference of two JSON values as a tree. Unchanged parts are folded; each change carries a sign and a word, not
 * only a colour; long lists are drawn in portions, so a value of a megabyte opens at once.
 */

import { useMemo, useState } from "react";
import { type DiffNode, diff, groupsOf, summaryOf } from "./JsonDiffModel";
import { TextDiff } from "./TextDiff";
import "./JsonDiff.css";

const PORTION = 100;
/** More changes than this are not all laid open at first. */
const MOST_OPEN = 60;
const LONGEST_INLINE = 80;

export function JsonDiff({ a, b }: { a: unknown; b: unknown }) {
  const root = useMemo(() => diff(a, b), [a, b]);
  if (root.change === "same") return <p className="muted">No difference.</p>;
  const { added, removed, changed } = root.count;
  return (
    <div className="jsondiff">
      <p className="jsondiff-summary muted">{summaryOf(root)}</p>
      <ul className="jsondiff-tree">
        {root.change === "inside" ? (
          <Children nodes={root.children ?? []} open={added + removed + changed <= MOST_OPEN} />
        ) : (
          <Leaf node={root} />
        )}
      </ul>
    </div>
  );
}

function Children({ nodes, open }: { nodes: DiffNode[]; open: boolean }) {
  const groups = useMemo(() => groupsOf(nodes), [nodes]);
  const [most, setMost] = useState(PORTION);
  const left = groups.length - most;
  return (
    <>
      {groups
        .slice(0, most)
        .map((group) =>
          group.kind === "fold" ? (
            <Fold key={group.nodes[0]?.pointer} nodes={group.nodes} />
          ) : (
            <Branch key={`${group.node.change} ${group.node.pointer}`} node={group.node} open={open} />
          ),
        )}
      {left > 0 && (
        <li>
          <button type="button" className="jsondiff-more" onClick={() => setMost(most + 5 * PORTION)}>
            Show more ({left} left)
          </button>
        </li>
      )}
    </>
  );
}

function Fold({ nodes }: { nodes: DiffNode[] }) {
  const [open, setOpen] = useState(false);
  if (open) {
    return nodes.slice(0, 5 * PORTION).map((node) => (
      <li key={node.pointer} className="jsondiff-row">
        <Mark change="same" />
        <Name node={node} />
        <Value value={node.b} />
      </li>
    ));
  }
  return (
    <li>
      <button type="button" className="jsondiff-more" onClick={() => setOpen(true)}>
        {nodes.length === 1 ? `${nodes[0]?.key}: unchanged` : `${nodes.length} unchanged`}
      </button>
    </li>
  );
}

function Branch({ node, open }: { node: DiffNode; open: boolean }) {
  const [shown, setShown] = useState(open);
  if (node.change !== "inside") return <Leaf node={node} />;
  return (
    <li>
      <button
        type="button"
        className="jsondiff-row jsondiff-branch"
        aria-expanded={shown}
        onClick={() => setShown(!shown)}
      >
        <Mark change="inside" />
        <Name node={node} />
        <span className="faint">{node.list ? "[…]" : "{…}"}</span>
        <span className="muted jsondiff-count">{summaryOf(node)}</span>
      </button>
      {shown && (
        <ul className="jsondiff-inner">
          <Children nodes={node.children ?? []} open={open} />
        </ul>
      )}
    </li>
  );
}

function Leaf({ node }: { node: DiffNode }) {
  return (
    <li className={`jsondiff-row ${node.change}`}>
      <Mark change={node.change} />
      <Name node={node} />
      <div className="jsondiff-values">
        {node.change === "changed" ? (
          <Changed a={node.a} b={node.b} />
        ) : (
          <Value value={node.change === "added" ? node.b : node.a} />
        )}
      </div>
    </li>
  );
}

function Changed({ a, b }: { a: unknown; b: unknown }) {
  if (typeof a === "string" && typeof b === "string" && (a.includes("\n") || b.includes("\n"))) {
    return <TextDiff a={a} b={b} />;
  }
  return (
    <>
      <span className="jsondiff-old">
        <Value value={a} />
      </span>
      <span className="faint" aria-hidden="true">
        →
      </span>
      <span className="visually-hidden">became</span>
      <span className="jsondiff-new">
        <Value value={b} />
      </span>
    </>
  );
}

const SIGNS = { added: "+", removed: "−", changed: "~", inside: "", same: "" } as const;

function Mark({ change }: { change: DiffNode["change"] }) {
  return (
    <span className={`jsondiff-mark ${change}`}>
      <span aria-hidden="true">{SIGNS[change]}</span>
      {SIGNS[change] && <span className="visually-hidden">{change}</span>}
    </span>
  );
}

function Name({ node }: { node: DiffNode }) {
  if (node.pointer === "") return null;
  return (
    <span className="jsondiff-key" title={node.pointer}>
      {node.from !== undefined && <span className="faint">{node.from} → </span>}
      {node.key}:
    </span>
  );
}

/** One line when it is short, else a line that opens. */
function Value({ value }: { value: unknown }) {
  const [open, setOpen] = useState(false);
  if (value === undefined) return <span className="faint">nothing</span>;
  const short = preview(value);
  if (short.whole) return <code className={`jsondiff-value ${kindOf(value)}`}>{short.text}</code>;
  return (
    <span className="jsondiff-long">
      <button type="button" className="jsondiff-more" aria-expanded={open} onClick={() => setOpen(!open)}>
        <code>{short.text}</code>
      </button>
      {open && <pre>{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</pre>}
    </span>
  );
}

function preview(value: unknown): { text: string; whole: boolean } {
  if (Array.isArray(value) && value.length > 20) return { text: `[… ${value.length} items]`, whole: false };
  const text = JSON.stringify(value) ?? "";
  if (text.length <= LONGEST_INLINE) return { text, whole: true };
  return { text: `${text.slice(0, LONGEST_INLINE - 10)}…`, whole: false };
}

function kindOf(value: unknown): string {
  if (typeof value === "string") return "string";
  return typeof value === "number" ? "number" : typeof value === "object" && value !== null ? "" : "word";
}
