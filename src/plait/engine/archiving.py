"""Gathers everything stored of one run, for the archive."""

from __future__ import annotations

from contextlib import suppress

from plait.kernel.approval import ApprovalFilter
from plait.kernel.errors import Erased
from plait.kernel.ids import RunId
from plait.kernel.store import Line, Store
from plait.stores.archive.archived_run import ArchivedRun

from .forks import blobs_of

_PAGE = 1_000


async def gathered(run_id: RunId, plain: Store, stored: Store) -> ArchivedRun | None:
    """The archived form of a run; None if it is gone. `stored` is the database itself: if it is encrypted, rows stay
    sealed, and only `plain` can tell which blobs they refer to."""
    row = await stored.run(run_id)
    if row is None:
        return None
    events = await stored.log(run_id)
    names: list[str] = []
    with suppress(Erased):  # nobody can read its large values, wherever they are
        names = blobs_of(await plain.log(run_id))
    compacted = any(each.is_compacted for each in events[:2])
    return ArchivedRun(
        row,
        events,
        blobs=[(name, await stored.blob(name)) for name in names],
        snapshot=await stored.snapshot(run_id) if compacted else None,
        approvals=await stored.approvals(ApprovalFilter(namespace=row.namespace, run_id=run_id, status=None)),
        dead_letters=await stored.dead_letters(None, run_id),
        lines=await _lines(run_id, stored),
    )


async def _lines(run_id: RunId, stored: Store) -> list[Line]:
    found: list[Line] = []
    while page := await stored.lines(run_id, None, found[-1].id if found else 0, _PAGE):
        found += page
    return found
