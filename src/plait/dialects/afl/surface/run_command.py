"""`plait afl run`: a workflow of a program, on this machine, until it ends or waits for somebody else."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from plait.cli import exits
from plait.cli.loading import load_module
from plait.cli.options import DEFAULT_DB, Db, Json, read_inputs
from plait.cli.output import emit, note, say
from plait.cli.session import do
from plait.dialects.afl.definition import Afl, afl
from plait.dialects.afl.handlers import Registration
from plait.dialects.afl.telemetry import Telemetry
from plait.kernel.errors import RunFailed
from plait.registry.engine import Engine

from .check_programs import CheckedProgram, check_files
from .diagnostic_view import say_diagnostics, summary
from .program_options import Library, Strict
from .registrations import registrations

WAITING = 3
_LOOKS = 0.05
"""Seconds between two polls of whether the run waits for others."""


def run(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A file, or a directory of them.", show_default=False)],
    workflow: Annotated[
        str | None, typer.Argument(metavar="[WORKFLOW]", help="Which, if there are several.", show_default=False)
    ] = None,
    input: Annotated[
        list[str] | None, typer.Option("--input", "-i", metavar="JSON|@FILE", help="Its input.", show_default="none")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="K=V", help="One of its inputs; repeatable.")
    ] = None,
    handlers: Annotated[
        list[str] | None, typer.Option(metavar="MODULE", help="Has HANDLERS, by facet; repeatable.")
    ] = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Start it, and leave it to others.")] = False,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="How long to wait for its end.", show_default="none")
    ] = None,
    telemetry: Annotated[Path | None, typer.Option(metavar="FILE", help="Records, a line each.")] = None,
    library: Library = None,
    strict: Strict = False,
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> None:
    """Run a workflow. Exits with 0 when it completed, 1 when it failed, 2 when it could not be started, and 3 when it
    still waits: for an agent, or because of --timeout or --no-wait."""
    given = read_inputs([*(input or ()), *(set_ or ())])
    checked = check_files([path], library, strict=strict)
    if checked.exit != exits.OK:
        _say_errors(checked, json=json)
        raise typer.Exit(exits.REFUSED)
    definition = afl(path, workflow, library or (), strict=strict)
    found = [each for name in handlers or () for each in registrations(load_module(name))]
    raise typer.Exit(do(_run(db, definition, given, found, no_wait, timeout, telemetry, json=json)))


def _say_errors(checked: CheckedProgram, *, json: bool) -> None:
    if json:
        emit(checked.document())
        return
    say_diagnostics(checked.diagnostics, checked.sources, stderr=True)
    note(summary(checked.diagnostics, len(checked.sources)))


async def _run(
    db: str,
    definition: Afl,
    given: dict[str, Any],
    found: list[Registration],
    no_wait: bool,
    timeout: float | None,
    telemetry: Path | None,
    *,
    json: bool,
) -> int:
    async with Engine(db, definitions=found, work=not no_wait) as engine:
        sink = None if telemetry is None else telemetry.open("a", encoding="utf-8")
        try:
            if sink is not None:
                file = sink
                engine.afl.telemetry(lambda record: _write(file, record))
            handle = await engine.start(definition, given)
            if no_wait:
                return _say(handle.id, "running", json=json)
            return await _follow(engine, handle, timeout, json=json)
        finally:
            await engine.afl.close_telemetry()
            if sink is not None:
                sink.close()


def _write(file: Any, record: Telemetry) -> None:
    file.write(msgspec.json.encode(record).decode() + "\n")


async def _follow(engine: Engine, handle: Any, timeout: float | None, *, json: bool) -> int:
    result = asyncio.ensure_future(handle.result())
    waits = asyncio.ensure_future(_waits_for_others(engine, handle))
    try:
        await asyncio.wait((result, waits), timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if not result.done():
            reasons = [] if not waits.done() else await waits
            return _say(handle.id, "waiting", waiting=reasons or ["it has not ended yet"], json=json)
        try:
            return _say(handle.id, "completed", output=await result, json=json)
        except RunFailed as failed:
            return _say(handle.id, "failed", error=msgspec.to_builtins(failed.error), json=json)
    finally:
        for each in (result, waits):
            each.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await each


async def _waits_for_others(engine: Engine, handle: Any) -> list[str]:
    """Returns once nothing of the run is in flight here, with what it waits for."""
    while True:
        await asyncio.sleep(_LOOKS)
        run = await engine.kernel.peek(await handle.row())
        state = run.state
        queued = [token for token in state.tasks if state.tasks.is_queued(token)]
        if state.status == "running" and queued and len(queued) == len(list(state.tasks)):
            machine = await engine.afl.machine(handle.id)
            if not machine.run.state.again:
                return [reason.text for reason in await handle.waiting()]


def _say(id: str, status: str, *, json: bool, **more: Any) -> int:
    if json:
        emit({"id": id, "status": status, **more})
    elif status == "completed":
        say(msgspec.json.format(msgspec.json.encode(more["output"]), indent=2).decode())
        note(f"run {id} completed")
    elif status == "failed":
        note(f"run {id} failed: {more['error']['message']} [{more['error']['code']}]", "red")
    else:
        note(f"run {id} still waits", "yellow")
        for text in more.get("waiting", ()):
            note(f"  {text}")
    return {"completed": exits.OK, "failed": exits.FAILED}.get(status, WAITING)
