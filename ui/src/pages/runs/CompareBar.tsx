import { Button } from "../../components/Button";
import { shortId } from "../../components/format";
import { useKey } from "../../shell/keys";
import { navigate } from "../../shell/router";

export function CompareBar({ selected, onClear }: { selected: string[]; onClear: () => void }) {
  const [a, b] = selected;
  const open = () => {
    if (a && b) navigate(`/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`);
  };
  useKey("c", open, { label: "Compare selected runs", group: "Runs", enabled: b !== undefined });
  if (!a) return null;
  return (
    <section className="compare-bar" aria-label="Selected runs">
      <span className="clip">
        <span className="mono">{shortId(a)}</span>
        {b ? (
          <>
            {" "}
            <span className="faint">and</span> <span className="mono">{shortId(b)}</span>
          </>
        ) : (
          <span className="muted"> selected: choose another run to compare</span>
        )}
      </span>
      <Button look="ghost" onClick={onClear}>
        Clear
      </Button>
      <Button look="primary" icon="compare" disabled={!b} onClick={open}>
        Compare
      </Button>
    </section>
  );
}
