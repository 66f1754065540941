import type { Health as State } from "../../api/goals";
import { StatusIcon } from "../../components/Status";

const LOOKS = {
  healthy: { status: "completed", word: "Healthy" },
  unhealthy: { status: "failed", word: "Unhealthy" },
  unknown: { status: "pending", word: "Health unknown" },
} as const;

/** Whether the step can be expected to work; with `words` also what is wrong. */
export function Health({ health, words = false }: { health: State | undefined; words?: boolean }) {
  const { status, word } = LOOKS[health?.status ?? "unknown"];
  if (!words) return <StatusIcon status={status} word={word} size={12} />;
  return (
    <span className="step-health">
      <span className={`status st-${status}`}>
        <span aria-hidden="true" className="row">
          <StatusIcon status={status} word={word} />
        </span>
        {word}
      </span>
      {health?.error && <span className="step-health-error">{health.error}</span>}
    </span>
  );
}
