"""The step catalog that a command works on: of an engine on a database, or of a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from plait.cli.contract import Session
from plait.dialects.goals.catalogs.step_catalog import StepCatalog
from plait.dialects.goals.steps.step import Step
from plait.dialects.goals.surface.remote_catalog import RemoteCatalog


def catalog_of(session: Session) -> StepCatalog | RemoteCatalog:
    """The catalog of the session's namespace."""
    return cast("Any", session.engine).catalog.of(session.namespace)


async def put(catalog: StepCatalog | RemoteCatalog, steps: Sequence[Step], *, update: bool) -> None:
    """Registers steps, all or none; `update` allows changes of existing ones."""
    if not isinstance(catalog, StepCatalog):
        await catalog.put(steps, "upsert" if update else "register")
        return
    async with catalog.transaction() as changes:
        for step in steps:
            (changes.upsert if update else changes.register)(step)
