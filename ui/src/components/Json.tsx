/**
 * A JSON value as a tree that folds. Only what is unfolded is in the page, long lists come in portions and long texts
 * are cut, so a value of a megabyte opens as fast as a small one.
 */

import { useMemo, useState } from "react";
import type { Json as Value } from "../api/types";
import { IconButton } from "./Button";
import { copyText } from "./clipboard";
import { bytes } from "./format";
import "./json.css";

const PORTION = 100;
const LONG_TEXT = 600;
/** Unfold by itself what fits on about a screen. */
const OPEN_LINES = 40;

export function Json({ value, label = "value" }: { value: unknown; label?: string }) {
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? "null", [value]);
  const depth = useMemo(() => openDepth(value), [value]);
  return (
    <section className="json" aria-label={label}>
      <div className="json-tools">
        {text.length > 2048 && <span className="faint">{bytes(text.length)}</span>}
        <IconButton icon="copy" label={`Copy ${label}`} className="small" onClick={() => void copyText(text, label)} />
      </div>
      <div className="json-tree">
        <Branch value={value as Value} open={depth} />
      </div>
    </section>
  );
}

/** How many levels can be shown unfolded within OPEN_LINES lines. */
export function openDepth(value: unknown): number {
  let level = [value];
  let lines = 1;
  for (let depth = 0; ; depth++) {
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one !== "object" || one === null) continue;
      for (const child of Object.values(one)) next.push(child);
      if (lines + next.length > OPEN_LINES) return Math.max(depth, 1);
    }
    lines += next.length;
    if (next.length === 0) return depth + 1;
    level = next;
  }
}

interface BranchProps {
  name?: string;
  value: Value;
  /** Levels from here that start unfolded. */
  open: number;
  last?: boolean;
}

function Branch({ name, value, open, last = true }: BranchProps) {
  const [unfolded, setUnfolded] = useState(open > 0);
  const [shown, setShown] = useState(PORTION);
  const comma = last ? "" : ",";
  const key = name === undefined ? null : <Key name={name} />;
  if (typeof value !== "object" || value === null) {
    return (
      <div className="json-line leaf">
        {key}
        <Leaf value={value} />
        {comma}
      </div>
    );
  }
  const list = Array.isArray(value);
  const children: [string | undefined, Value][] = list
    ? value.map((one): [undefined, Value] => [undefined, one])
    : Object.entries(value);
  const [left, right] = list ? "[]" : "{}";
  if (children.length === 0) {
    return (
      <div className="json-line leaf">
        {key}
        {left}
        {right}
        {comma}
      </div>
    );
  }
  return (
    <div>
      <div className="json-line">
        <button
          type="button"
          className="json-fold"
          aria-expanded={unfolded}
          aria-label={`${unfolded ? "Fold" : "Unfold"} ${name ?? (list ? "list" : "object")}`}
          onClick={() => setUnfolded(!unfolded)}
        />
        {key}
        {left}
        {!unfolded && (
          <>
            <button type="button" className="json-more" onClick={() => setUnfolded(true)}>
              {children.length} {list ? "items" : "fields"}
            </button>
            {right}
            {comma}
          </>
        )}
      </div>
      {unfolded && (
        <>
          <div className="json-children">
            {children.slice(0, shown).map(([childName, child], index) => (
              <Branch
                key={childName ?? index}
                name={childName}
                value={child}
                open={open - 1}
                last={index === children.length - 1}
              />
            ))}
            {children.length > shown && (
              <button type="button" className="json-more" onClick={() => setShown(shown + PORTION * 5)}>
                {children.length - shown} more
              </button>
            )}
          </div>
          <div className="json-line leaf">
            {right}
            {comma}
          </div>
        </>
      )}
    </div>
  );
}

function Key({ name }: { name: string }) {
  return (
    <>
      <span className="json-key">{JSON.stringify(name)}</span>:{" "}
    </>
  );
}

function Leaf({ value }: { value: null | boolean | number | string }) {
  const [whole, setWhole] = useState(false);
  if (typeof value === "number") return <span className="json-number">{String(value)}</span>;
  if (typeof value !== "string") return <span className="json-word">{String(value)}</span>;
  const cut = value.length > LONG_TEXT && !whole;
  return (
    <>
      <span className="json-string">{JSON.stringify(cut ? value.slice(0, LONG_TEXT) : value)}</span>
      {cut && (
        <button type="button" className="json-more" onClick={() => setWhole(true)}>
          {bytes(value.length - LONG_TEXT)} more
        </button>
      )}
    </>
  );
}
