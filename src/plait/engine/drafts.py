"""`engine.drafts`: definitions derived from what runs have done, if their dialect supports it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from plait.definitions.definitions import Definitions
from plait.definitions.flaws import InvalidDefinition, Note
from plait.definitions.saved import Saved
from plait.kernel.bundle import MakesDrafts, RunDraft
from plait.kernel.errors import Conflict, InvalidInput, NotFound
from plait.kernel.ids import DEFAULT_NAMESPACE, run_key
from plait.kernel.kernel import Kernel
from plait.kernel.store import RunRow

INCOMPLETE = "invalid_definition"


class Drafts:
    def __init__(self, kernel: Kernel, definitions: Definitions) -> None:
        self._kernel = kernel
        self._definitions = definitions

    async def make(
        self,
        run_id: str,
        options: Mapping[str, Any] | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        *,
        dialect: str | None = None,
    ) -> RunDraft:
        """The definition that the run would become. Nothing is changed, and the run may still be in progress. With
        `dialect`, only a run of that dialect is accepted."""
        return await self._make(await self._row(run_id, namespace, dialect), options or {})

    async def save(
        self,
        dialect: str,
        run_id: str,
        name: str,
        options: Mapping[str, Any] | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        *,
        breaking: bool = False,
        expected: str | None = None,
    ) -> Saved:
        """Saves the draft as a version of a name; raises with all its flaws if there are any."""
        found = await self._make(await self._row(run_id, namespace, dialect), options or {})
        if found.flaws:
            notes = [Note(flaw.pointer, flaw.message, "", flaw.code) for flaw in found.flaws]
            raise InvalidDefinition(INCOMPLETE, notes)
        saved = await self._definitions.save(
            dialect, name, found.definition, namespace=namespace, breaking=breaking, expected=expected
        )
        return msgspec.structs.replace(saved, warnings=(*saved.warnings, *found.warnings))

    async def _row(self, run_id: str, namespace: str, dialect: str | None) -> RunRow:
        self._kernel.must_live()
        row = await self._kernel.store.run(run_key(namespace, run_id))
        if row is None:
            raise NotFound("kernel.no_run", f"there is no run {run_id}", fix="`plait runs` lists them")
        if dialect not in (None, row.dialect):
            what = f"run {run_id} is one of `{row.dialect}`, not of `{dialect}`"
            raise InvalidInput("kernel.other_dialect", what, fix=f'send "dialect": "{row.dialect}"')
        return row

    async def _make(self, row: RunRow, options: Mapping[str, Any]) -> RunDraft:
        bundle = self._kernel.loader.bundle(row.dialect)
        if not isinstance(bundle, MakesDrafts):
            raise Conflict("kernel.no_draft", f"a run of `{row.dialect}` can't be turned into a definition")
        return await bundle.draft((await self._kernel.peek(row)).machine, options, row.namespace)
