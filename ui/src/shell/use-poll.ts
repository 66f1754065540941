import { useEffect, useRef } from "react";

/** Calls again and again while the page is looked at, and at once when it comes back into view. */
export function usePoll(run: () => void, every: number): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const tick = () => {
      if (document.visibilityState === "visible") latest.current();
    };
    const timer = window.setInterval(tick, every);
    document.addEventListener("visibilitychange", tick);
    return () => {
      window.clearInterval(timer);
      document.removeEventListener("visibilitychange", tick);
    };
  }, [every]);
}
