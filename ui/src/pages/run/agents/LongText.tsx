/** Text as it is; of a long one the beginning, until the rest is wanted. */

import { useState } from "react";
import { bytes } from "../../../components/format";

const LONG = 1200;

export function LongText({ text, label }: { text: string; label: string }) {
  const [whole, setWhole] = useState(false);
  const long = text.length > LONG;
  return (
    <section className="agent-text" aria-label={label}>
      <pre>
        {long && !whole ? text.slice(0, LONG) : text}
        {long && !whole && "…"}
      </pre>
      {long && (
        <button type="button" className="json-more" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? "Show less" : `${bytes(text.length - LONG)} more`}
        </button>
      )}
    </section>
  );
}
