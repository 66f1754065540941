"""The compiled definitions that runs of this process use: one for each definition, shared by its runs."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

import msgspec
from msgspec import Raw

from plait.dialects.refs.definition.compile import Compiled, compile_refs
from plait.dialects.refs.definition.plan import Plan

_KEPT: Final = 256


class Plans:
    def __init__(self) -> None:
        self._known: OrderedDict[bytes, Compiled] = OrderedDict()

    def of(self, definition: Raw) -> Plan:
        """The plan of a definition as recorded in the log."""
        return self._compiled(bytes(definition)).plan

    def made(self, definition: Any, *, starting: bool = False) -> Compiled:
        """The plan of a definition as written; raises with all its flaws."""
        found = self._compiled(msgspec.json.encode(definition))
        if starting and not found.plan.steps:  # it may be saved, but not started
            compile_refs(definition, starting=True)
        return found

    def _compiled(self, text: bytes) -> Compiled:
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = compile_refs(msgspec.json.decode(text))
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(text)
        return found
