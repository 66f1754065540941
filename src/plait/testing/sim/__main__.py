"""`python -m plait.testing.sim --seeds 1000`: looks for a seed that breaks a promise."""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import itertools
import json
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

from .flows.seeds import simulate_flows
from .seeds import SeedReport, simulate

_SIMULATIONS: dict[str, Callable[[int], Coroutine[Any, Any, SeedReport]]] = {
    "code": simulate,
    "goals": simulate_flows,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m plait.testing.sim", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many seeds to try (default: 200)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (default: 0)")
    parser.add_argument("--seed", type=int, help="replay one seed and show everything")
    parser.add_argument("--json", action="store_true", help="one JSON object at the end, for programs")
    parser.add_argument("--dialect", choices=[*_SIMULATIONS, "all"], default="all", help="what runs are made of")
    options = parser.parse_args()
    chosen = list(_SIMULATIONS) if options.dialect == "all" else [options.dialect]
    if options.seed is not None:
        return _show(options.seed, chosen, options.json)
    return _search(range(options.first, options.first + options.seeds), chosen, options.json)


def _show(seed: int, chosen: list[str], as_json: bool) -> int:
    reports = [asyncio.run(_SIMULATIONS[each](seed)) for each in chosen]
    if as_json:
        print(json.dumps(_summary(reports, 0.0)))
    else:
        for report in reports:
            print(report if report.failure else f"{report.scenario}\n\n{report.logs}\n\n{report}")
    return 1 if any(report.failure for report in reports) else 0


def _search(seeds: range, chosen: list[str], as_json: bool) -> int:
    started = time.perf_counter()
    reports: list[SeedReport] = []
    for seed, dialect in itertools.product(seeds, chosen):
        report = asyncio.run(_SIMULATIONS[dialect](seed))
        reports.append(report)
        if not as_json and report.failure:
            print(report)
        elif not as_json and sys.stderr.isatty():
            print(f"\r{len(reports)} of {len(seeds) * len(chosen)} seeds", end="", file=sys.stderr)
    summary = _summary(reports, time.perf_counter() - started)
    failed = [f"{report.dialect} {report.seed}" for report in reports if report.failure]
    if as_json:
        print(json.dumps(summary))
    else:
        figures = ", ".join(f"{value} {name}" for name, value in summary.items() if name not in ("failed", "digest"))
        print(f"\n{figures}; {f'FAILED: {failed}' if failed else 'every promise kept'}")
    return 1 if failed else 0


def _summary(reports: list[SeedReport], seconds: float) -> dict[str, object]:
    return {
        "seeds": len(reports),
        "runs": sum(report.runs for report in reports),
        "events": sum(report.events for report in reports),
        "troubles": sum(len(report.trouble) for report in reports),
        "seconds": round(seconds, 1),
        "digest": hashlib.sha256("".join(report.digest for report in reports).encode()).hexdigest()[:16],
        "failed": {f"{report.dialect} {report.seed}": report.failure for report in reports if report.failure},
    }


if __name__ == "__main__":
    sys.exit(main())
