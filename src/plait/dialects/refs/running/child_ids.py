"""Ids of child runs: after their parent and the step that started them."""

from __future__ import annotations

import hashlib
from typing import Final

from plait.kernel.ids import RunId

from .state import work_id

_LONGEST: Final = 200
"""Characters. Workflows may call themselves: nested names would grow without end."""


def child_id(run_id: RunId, step: str, index: int | None, generation: int) -> RunId:
    """The id of a child. One that is started again because its parent was resumed is another run."""
    again = f":{generation + 1}" if generation else ""
    found = f"{run_id}:{work_id(step, index)}{again}"
    if len(found) <= _LONGEST:
        return RunId(found)
    namespace, slash, own = run_id.rpartition("/")
    digest = hashlib.blake2b(found.encode(), digest_size=12).hexdigest()
    return RunId(f"{namespace}{slash}{own.partition(':')[0][:80]}:{digest}:{work_id(step, index)}{again}")
