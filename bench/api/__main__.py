"""``python -m bench.api``: start a server, load it, kill it if asked to, look, show.

python -m bench.api                       # 1,000 starts a second for 60 s, 500 watchers
python -m bench.api --kill                # the same, and the server is killed on the way
python -m bench.api --rate 200 --seconds 5 --watchers 50
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec
from rich.console import Console

from bench.api import witness
from bench.api.figures import Outcome, figures, show
from bench.api.load import DRAIN
from bench.api.orders import REPOSITORY, Order, Report
from bench.api.server import Server, ends_with_us


def main() -> int:
    options = _parse(sys.argv[1:])
    outcome = asyncio.run(_until_stopped(options))
    found = figures(outcome)
    if options.json:
        print(json.dumps([figure.to_json() for figure in found], indent=2, ensure_ascii=False))
    else:
        show(Console(width=None if sys.stdout.isatty() else 120), outcome)
    return 0 if all(figure.met is not False for figure in found) else 1


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.api", description="The HTTP API under load.")
    parser.add_argument("--rate", type=float, default=1000, help="starts a second; 1000 unless told")
    parser.add_argument("--seconds", type=float, default=60, help="how long; 60 unless told")
    parser.add_argument("--watchers", type=int, default=500, help="live streams; 500 unless told")
    parser.add_argument("--kill", action="store_true", help="kill -9 the server at a third of the time")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    if options.rate <= 0 or options.seconds <= 0 or options.watchers < 0:
        parser.error("--rate and --seconds must be above 0, --watchers not below")
    return options


async def _until_stopped(options: argparse.Namespace) -> Outcome:
    """A signal ends it as an error does, so that everything that was started is ended, too."""
    task = asyncio.ensure_future(_measure(options))
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, task.cancel)
    return await task


async def _measure(options: argparse.Namespace) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="plait-bench-api-") as name:
        folder = Path(name)
        server = Server(folder)
        try:
            key = await server.key()
            await server.start()
            order = Order(
                port=server.port,
                key=key,
                rate=options.rate,
                seconds=options.seconds,
                watchers=options.watchers,
                retrying=options.kill,
                acknowledged=str(folder / "acknowledged"),
            )
            spent = server.cpu()
            async with _load(order) as load:
                ready_again = await _kill(server, options.seconds / 3) if options.kill else None
                report = await asyncio.wait_for(load, options.seconds + 4 * DRAIN)
            cpu = server.cpu() - spent
            evidence = await witness.look(server.port, key, Path(order.acknowledged), server.ledger)
            stopped = await server.stop()
        finally:
            await server.close()
    return Outcome(order, report, evidence, ready_again, stopped, cpu)


async def _kill(server: Server, after: float) -> float:
    await asyncio.sleep(after)
    await server.kill()
    return await server.start()


@contextlib.asynccontextmanager
async def _load(order: Order) -> AsyncGenerator[asyncio.Task[Report]]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.api.load", msgspec.json.encode(order).decode()),
        cwd=REPOSITORY,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
        preexec_fn=ends_with_us,
    )
    reporting = asyncio.ensure_future(_report(process))
    try:
        yield reporting
    finally:
        reporting.cancel()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def _report(process: asyncio.subprocess.Process) -> Report:
    said, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"the load process ended with {process.returncode}")
    return msgspec.json.decode(said, type=Report)


if __name__ == "__main__":
    sys.exit(main())
