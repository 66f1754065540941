"""`python -m plait.testing.sim --seeds 20000`: looks for a seed that breaks a promise. `make sim` does that."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from typing import TextIO

from .event_loop import run
from .search import SIMULATIONS, Dialect, Found, Tried, search

_SHOWN = 3
"""Failures shown in full; for further ones, only the seed and how to replay it."""
_TOLD = 1000
"""Progress is logged after the first batch and then after this many seeds: a reader can resume from there after a
kill."""


def main() -> int:
    options = _options()
    dialects: list[Dialect] = list(SIMULATIONS) if options.dialect == "all" else [options.dialect]
    if options.seed is not None and not options.json:
        return _replay(options.seed, dialects)
    first, count = (options.first, options.seeds) if options.seed is None else (options.seed, 1)
    seeds = range(first, first + count)
    return _search(seeds, dialects, options.jobs, as_json=options.json)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m plait.testing.sim", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many seeds to try in each dialect (default: 200)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (default: 0)")
    parser.add_argument("--seed", type=int, help="replay one seed and show everything")
    parser.add_argument("--json", action="store_true", help="one JSON object at the end, for programs")
    parser.add_argument("--dialect", choices=[*SIMULATIONS, "all"], default="all", help="what runs are made of")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: as many as there are cores)"
    )
    return parser.parse_args()


def _replay(seed: int, dialects: Sequence[Dialect]) -> int:
    reports = [run(SIMULATIONS[each](seed)) for each in dialects]
    for report in reports:
        print(report if report.failure else f"{report.scenario}\n\n{report.logs}\n\n{report}")
    return 1 if any(report.failure for report in reports) else 0


def _search(seeds: range, dialects: Sequence[Dialect], jobs: int, *, as_json: bool) -> int:
    found, started, out = Found(), time.perf_counter(), sys.stderr if as_json else sys.stdout
    total = len(seeds) * len(dialects)
    stopped = False
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # `timeout`, `make` and others stop a command this way
    try:
        with closing(search(seeds, dialects, jobs)) as outcomes:
            for tried in outcomes:
                before = len(found.tried)
                found.tried += tried
                _tell_failures(found, tried, out)
                if sys.stderr.isatty():
                    print(f"\r{len(found.tried)} of {total} seeds", end="", file=sys.stderr, flush=True)
                elif not before or before // _TOLD < len(found.tried) // _TOLD:
                    _tell_progress(found, seeds, dialects, out)
    except (KeyboardInterrupt, BrokenProcessPool):  # a signal to all processes may end another one first
        stopped = True
    seconds = time.perf_counter() - started
    if as_json:
        print(json.dumps(found.summary(seconds)))
    else:
        _print_result(found, seeds, dialects, seconds, stopped=stopped)
    return 130 if stopped else 1 if found.broken else 0


def _tell_failures(found: Found, tried: Sequence[Tried], out: TextIO) -> None:
    for each in tried:
        if each.failure is not None:
            shown = (
                each.shown
                if len(found.broken) <= _SHOWN
                else f"FAILED: {each.failure.splitlines()[0]}\n{_replayed(each)}"
            )
            print(shown, file=out, flush=True)


def _tell_progress(found: Found, seeds: range, dialects: Sequence[Dialect], out: TextIO) -> None:
    done = f"{found.tally(dialects)}: {len(found.broken)} broken"
    print(f"{done}; the rest: {_rest(found, seeds, dialects)}", file=out, flush=True)


def _rest(found: Found, seeds: range, dialects: Sequence[Dialect]) -> str:
    at = found.resume_at(seeds, dialects)
    dialect = f" DIALECT={dialects[0]}" if len(dialects) == 1 else ""
    return f"make sim FIRST={at} SEEDS={seeds.stop - at}{dialect}"


def _replayed(tried: Tried) -> str:
    return f"replay: python -m plait.testing.sim --dialect {tried.dialect} --seed {tried.seed}"


def _print_result(found: Found, seeds: range, dialects: Sequence[Dialect], seconds: float, *, stopped: bool) -> None:
    """The last line is the result; before it, what was not tried, and what to replay."""
    figures = found.summary(seconds)
    print(f"\n{figures['runs']} runs, {figures['events']} events, {figures['troubles']} troubles")
    for each in found.broken:
        print(_replayed(each))
    if stopped:
        print(f"stopped; the rest: {_rest(found, seeds, dialects)}")
    rate = len(found.tried) / seconds if seconds else 0.0
    broken = len(found.broken)
    promises = "promise" if broken == 1 else "promises"
    done = f"{found.tally(dialects)}: {broken} broken {promises}"
    print(f"{done} ({seconds / 60:.1f} minutes, {rate:.1f} seeds a second)")


if __name__ == "__main__":
    sys.exit(main())
