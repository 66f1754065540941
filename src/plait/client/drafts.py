"""Definitions made from runs of a server: the calls of `engine.drafts`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plait.api.definition import SavedVersion
from plait.api.plan import RunPlan
from plait.api.transport import Transport
from plait.kernel.bundle import RunDraft
from plait.kernel.ids import DEFAULT_NAMESPACE


class RemoteDrafts:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def make(
        self,
        run_id: str,
        options: Mapping[str, Any] | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        *,
        dialect: str | None = None,
    ) -> RunDraft:
        """Makes a draft of the run as a definition; its document lists its flaws."""
        path = self._transport.path("plan")
        sent = {"dialect": dialect, "from_run": run_id, "options": {**(options or {})}}
        found = await self._transport.post(path, RunPlan, sent, {"namespace": namespace}, idempotent=True)
        return RunDraft(found.dialect, found.plan["definition"], found.plan, warnings=found.notes)

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
    ) -> SavedVersion:
        """Saves the draft as a version of a name; refuses a draft with flaws, naming all of them."""
        sent = {
            "dialect": dialect,
            "name": name,
            "from_run": run_id,
            "options": {**(options or {})},
            "breaking": breaking,
            "expected": expected,
        }
        path = self._transport.path("definitions")
        return await self._transport.post(path, SavedVersion, sent, {"namespace": namespace}, idempotent=True)
