"""The compiled definitions that runs of this process use: one for each definition, shared by its runs."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any, Final

import msgspec
from msgspec import Raw

from plait.dialects.refs.definition.compile import Compiled, compile_refs
from plait.dialects.refs.definition.plan import Plan
from plait.kernel.json_text import LONG

_KEPT: Final = 256


class Plans:
    def __init__(self) -> None:
        self._known: OrderedDict[bytes, Compiled] = OrderedDict()

    def of(self, definition: Raw) -> Plan:
        """The plan of a definition as recorded in the log."""
        return self._compiled(bytes(definition)).plan

    async def prepared(self, definition: Any, *, starting: bool = False) -> Compiled:
        """As `made`; a long one that was not seen before is compiled in a thread."""
        text = msgspec.json.encode(definition)
        if len(text) > LONG and text not in self._known:
            self._keep(text, await asyncio.to_thread(compile_refs, msgspec.json.decode(text)))
        return self.made(definition, starting=starting)

    def made(self, definition: Any, *, starting: bool = False) -> Compiled:
        """The plan of a definition as written; raises with all its flaws."""
        found = self._compiled(msgspec.json.encode(definition))
        if starting and not found.plan.steps:  # it may be saved, but not started
            compile_refs(definition, starting=True)
        return found

    def _compiled(self, text: bytes) -> Compiled:
        found = self._known.get(text)
        if found is None:
            found = self._keep(text, compile_refs(msgspec.json.decode(text)))
        else:
            self._known.move_to_end(text)
        return found

    def _keep(self, text: bytes, compiled: Compiled) -> Compiled:
        self._known[text] = compiled
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return compiled
