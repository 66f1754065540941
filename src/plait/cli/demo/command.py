"""The command `plait demo`."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from plait.cli import words
from plait.cli.options import Json
from plait.cli.output import emit, say, status_text, table
from plait.cli.records import run_document, status_of, took
from plait.cli.session import do
from plait.kernel.store import RunRow
from plait.registry.engine import Engine

from .process import EngineProcess
from .script import Script, too_slow
from .stage import NoStage, stage


def demo(
    pace: Annotated[float, typer.Option(min=0.01, max=10, help="Twice as slow: 2.", hidden=True)] = 1.0,
    json: Json = False,
) -> None:
    """Watch a few runs, a crash and a recovery. Takes about ten seconds, and needs nothing."""
    folder = Path(tempfile.mkdtemp(prefix="plait-demo-"))
    db = f"sqlite:///{folder}/plait.db"
    started = time.monotonic()
    rows, executions, repeated = do(_play(db, folder, pace, json))
    if json:
        runs = [run_document(row, output=row.output) for row in rows]
        emit({"db": db, "runs": runs, "executions": executions, "repeated": repeated})
    else:
        _epilogue(db, rows, executions, repeated, time.monotonic() - started)


async def _play(db: str, folder: Path, pace: float, json: bool) -> tuple[list[RunRow], int, list[str]]:
    process = EngineProcess(db, folder)
    shown = NoStage() if json else stage()
    try:
        async with Engine(db, work=False) as engine:
            await Script(engine, process, shown, pace).play()
            rows = await engine.runs()
    except TimeoutError:
        raise too_slow() from None
    finally:
        shown.close()
        await process.stop()
    return rows[::-1], *process.repeated()


def _epilogue(db: str, rows: list[RunRow], executions: int, repeated: list[str], seconds: float) -> None:
    say()
    now = words.now()
    table(
        ("RUN", "STATUS", "TOOK", "RESULT"),
        [(row.id, status_text(status_of(row)), words.duration(took(row, now)), _result(row)) for row in rows],
        cut=("RESULT",),
    )
    say()
    say(f"{executions} attempts of steps in {seconds:.0f} s.")
    if repeated:
        say(f"The crash cut off `{repeated[0]}`, which was begun again with the same")
        say("idempotency key. Everything else ran once.")
    say("\nTry next:", "bold")
    for line in (
        f"export PLAIT_DB={db}",
        "plait runs",
        "plait show order-1",
        "plait events order-1",
        "plait why order-2",
        'plait run plait.demo.workflows:order --id o-3 --input \'{"customer":"me"}\'',
        "plait message o-3 yes       # in another terminal; or press Ctrl-C: it is kept",
        "plait fork order-1 --at charge --id o-4",
        "plait run plait.demo.workflows:order --id o-4",
    ):
        say(f"  {line}")


def _result(row: RunRow) -> str:
    found: Any = row.output
    if row.error is not None:
        return words.failure(row.error)
    return bytes(found).decode() if found is not None else ""
