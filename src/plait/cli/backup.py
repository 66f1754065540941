"""`plait backup` and `plait restore`: a whole database to a file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plait.engine import backups
from plait.kernel.errors import NotFound

from .options import DEFAULT_DB, Db, Json
from .output import emit, note
from .session import do, must_exist, refuse_server

Target = Annotated[
    Path, typer.Argument(metavar="FILE", help="The file to write; must not exist yet.", show_default=False)
]
Source = Annotated[Path, typer.Argument(metavar="FILE", help="Written by `plait backup`.", show_default=False)]


def backup(file: Target, db: Db = DEFAULT_DB, json: Json = False) -> None:
    """Write a whole database to a file, while engines work on it.

    It is the database as it was at one moment. The file holds inputs, results and secrets, as the database does.
    """
    must_exist(db)
    do(backups.backup(db, file))
    _say(file, f"backup of {file.stat().st_size:,} bytes in {file}", json=json)


def restore(file: Source, db: Db = DEFAULT_DB, json: Json = False) -> None:
    """Create a database from a backup, where there is none yet. All or nothing.

    Start no engine on it while the old database is still in use: both would continue the same runs.
    """
    refuse_server(db)
    if not file.is_file():
        raise NotFound("cli.no_file", f"there is no file {file}", fix="name a file that `plait backup` made")
    do(backups.restore(db, file))
    _say(file, f"restored from {file}", json=json)


def _say(file: Path, text: str, *, json: bool) -> None:
    if json:
        emit({"file": str(file), "bytes": file.stat().st_size})
    else:
        note(text)
