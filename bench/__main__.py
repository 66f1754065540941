"""``python -m bench``: choose, run, show."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
from pathlib import Path

from rich.console import Console

from bench import runner, table
from bench.catalog import SUBJECTS, choose
from bench.postgres import Databases, databases
from bench.results import Results
from bench.targets import judge
from bench.unavailable import UnavailableError
from bench.works import WORKS


def main() -> int:
    options = _parse(sys.argv[1:])
    plan = runner.Plan(
        works=tuple(options.work),
        subjects=choose(options.subject, quick=options.quick),
        rounds=options.rounds,
        quick=options.quick,
    )
    results = asyncio.run(_run(plan))
    verdicts = judge(results)
    document = {**results.to_json(), "targets": [verdict.to_json() for verdict in verdicts]}
    if options.out:
        options.out.write_text(json.dumps(document, indent=2) + "\n")
    if options.json:
        print(json.dumps(document, indent=2))
    else:
        table.show(_wide_console(), results, verdicts)
    return 1 if _plait_failed(results) else 0


async def _run(plan: runner.Plan) -> Results:
    progress = Console(stderr=True)
    needs_server = [subject.name for subject in plan.subjects if subject.place == "server"]
    why_not = ""
    async with contextlib.AsyncExitStack() as stack:
        server: Databases | None = None
        if needs_server:
            try:
                server = await stack.enter_async_context(databases())
            except UnavailableError as error:
                why_not = str(error)
        with progress.status("starting") as status:
            results = await runner.run(plan, server, status.update if progress.is_terminal else progress.print)
    if server is None:
        for name in needs_server:
            results.leave_out(name, why_not)
    else:
        results.versions["postgres server"] = server.version
        if not server.durable:
            results.notes.append("PostgreSQL does not wait for the disk here: its figures are not durable ones.")
    return results


def _parse(arguments: list[str]) -> argparse.Namespace:
    names = [subject.name for subject in SUBJECTS]
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Plait beside its peers and the bare database, in one run, as ratios."
    )
    parser.add_argument("--quick", action="store_true", help="smaller counts: minutes instead of half an hour")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the JSON to a file as well")
    parser.add_argument("--work", nargs="+", choices=list(WORKS), default=list(WORKS), metavar="W", help="some works")
    parser.add_argument("--subject", nargs="+", metavar="NAME", help=f"by name or its first part: {', '.join(names)}")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds to take the median of; 3 unless told")
    options = parser.parse_args(arguments)
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds must be 1 or more")
    unknown = [name for name in options.subject or () if not choose([name], quick=False)]
    if unknown:
        parser.error(f"no subject {', '.join(unknown)}; there are {', '.join(names)}")
    return options


def _wide_console() -> Console:
    """A pipe or a file has no width of its own; the tables need more than the default."""
    console = Console()
    return console if console.is_terminal else Console(width=120)


def _plait_failed(results: Results) -> bool:
    return any(subject.startswith("plait/") for _, subject in results.failures)


if __name__ == "__main__":
    sys.exit(main())
