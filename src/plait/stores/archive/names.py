"""Names of archived runs: `<namespace>/<month of the end>/<id>-<created>.jsonl.gz`.

By namespace and month, so that months can be moved and deleted as a whole.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from plait.kernel.ids import caller_id
from plait.kernel.store import RunRow

_LONGEST: Final = 150
_ENDING: Final = ".jsonl.gz"


def name_of(row: RunRow) -> str:
    ended = datetime.fromtimestamp((row.ended_at or row.created_at) / 1000, UTC)
    return f"{folder_of(row.namespace)}/{ended:%Y-%m}/{start_of(caller_id(row.id))}{row.created_at}{_ENDING}"


def folder_of(namespace: str) -> str:
    return _part(namespace)


def start_of(run_id: str) -> str:
    """Prefix of the names of all runs with this id."""
    return f"{_part(run_id)}-"


def is_of(name: str, run_id: str) -> bool:
    """Whether a name belongs to such a run, and not to one whose id only starts with this one."""
    start = start_of(run_id)
    return name.startswith(start) and name.endswith(_ENDING) and name[len(start) : -len(_ENDING)].isdecimal()


def _part(text: str) -> str:
    """A name valid in every file system; one that is too long is cut and gets a hash."""
    name = quote(text, safe="@=+,")
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}~{hashlib.sha256(text.encode()).hexdigest()[:16]}"
