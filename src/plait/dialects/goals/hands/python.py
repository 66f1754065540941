"""Work and compensation by Python functions: async ones on the event loop, plain ones in a thread.

Most steps are of this kind, and a call is made for each: so there is little here between the kernel and the function.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from msgspec import Raw

from plait.dialects.goals.running.hands import Item, Worked
from plait.kernel import values

from .facts import Facts, Webhooks
from .handlers import Handler
from .shaping import Shaping


class PythonWork:
    """One item of a step, bound to its function."""

    __slots__ = ("_facts", "_handler", "_item", "_shaping", "_webhooks")

    def __init__(self, handler: Handler, facts: Facts, item: Item, webhooks: Webhooks, shaping: Shaping) -> None:
        self._handler = handler
        self._facts = facts
        self._item = item
        self._webhooks = webhooks
        self._shaping = shaping

    def __call__(self) -> Any:
        result = self._handler.call(values.decode(self._facts.inputs(self._item, self._webhooks)))
        return self._awaited(result) if hasattr(result, "__await__") else self._worked(result)

    async def _awaited(self, result: Awaitable[Any]) -> Worked:
        worked = self._worked(await result)
        return worked if isinstance(worked, Worked) else await worked

    def _worked(self, result: Any) -> Worked | Awaitable[Worked]:
        """At once, where no script has to map what was returned."""
        facts, outputs = self._facts, self._handler.outputs(result)
        if facts.scripts:
            return self._shaping.later(facts, outputs, self._item.token)
        return self._shaping.now(facts, outputs)


class PythonUndo:
    """The compensator of an item: it gets what went in and what came out."""

    __slots__ = ("_handler", "_input", "_output")

    def __init__(self, handler: Handler, input: Raw, output: dict[str, Any]) -> None:
        self._handler = handler
        self._input = input
        self._output = output

    def __call__(self) -> Any:
        result = self._handler.call({"input": values.decode(self._input), "output": self._output})
        return _ended(result) if hasattr(result, "__await__") else None


async def _ended(result: Awaitable[Any]) -> None:
    await result
