"""Reports what was sent to a run, and whether an engine has taken it."""

from __future__ import annotations

from typing import Any

from .contract import Run
from .output import emit, say
from .records import run_document

_HEARD = {
    True: "an engine has taken it",
    False: "kept: it waits in the database until an engine runs",
    None: "the server has it",
}


async def report(run: Run, what: str, taken: bool | None, *, json: bool, **more: Any) -> None:
    row = await run.row()
    if json:
        emit(run_document(row, taken=taken, **more))
    else:
        say(f"{what}; {_HEARD[taken]}")
