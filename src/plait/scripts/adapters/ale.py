"""Ale: only `#f` is false."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from msgspec import Raw

from plait.kernel import values
from plait.scripts import ale
from plait.scripts.errors import CompileError, ScriptError
from plait.scripts.offloading import MOST_ON_LOOP, NotEnough, Offloading

T = TypeVar("T")

_QUICK = ale.Limits(steps=500, elements=10_000, memory=256 * 1024, result=64 * 1024)
"""Limits of a script on the event loop."""
_UNKNOWN = "unknown name: "
_UNBINDABLE = "name can't be a parameter: "


class Ale:
    def __init__(self, offloading: Offloading) -> None:
        self._offloading = offloading

    async def check(self, script: str, names: Sequence[str]) -> None:
        try:
            if len(script) > MOST_ON_LOOP:
                await self._offloading.in_thread(lambda: ale.compile(script, names))
            else:
                ale.compile(script, names)
        except ale.AleError as error:
            raise _uncompilable(error) from None

    async def call(
        self, script: str, names: Sequence[str], document: Raw, seed: str, timeout: float | None = None
    ) -> Any:
        return await self._run(script, names, document, ale.Script.call)

    async def holds(
        self, script: str, names: Sequence[str], document: Raw, seed: str, timeout: float | None = None
    ) -> bool:
        return await self._run(script, names, document, ale.Script.holds)

    async def _run(
        self, script: str, names: Sequence[str], document: Raw, ask: Callable[[ale.Script, dict[str, Any]], T]
    ) -> T:
        def quick() -> T:
            compiled = copy.copy(ale.compile(script, names))
            compiled.limits = _QUICK
            try:
                return ask(compiled, values.decode(document))
            except ale.AleLimitError:
                raise NotEnough from None

        def full() -> T:
            return ask(ale.compile(script, names), values.decode(document))

        try:
            return await self._offloading.run(document, quick, full)
        except ale.AleError as error:
            raise ScriptError(_placed(error), retryable=False) from None


def _placed(error: ale.AleError) -> str:
    return f"line {error.line}: {error.what}" if error.line else error.what


def _uncompilable(error: ale.AleError) -> CompileError:
    match error.code:
        case "ale.unknown_name":
            return CompileError(f"unknown name '{error.message.removeprefix(_UNKNOWN)}'", error.line)
        case "ale.bad_parameter":
            name = error.message.removeprefix(_UNBINDABLE)
            return CompileError(f"Ale can't have the name '{name}'", fix="map the attribute to a plain name")
        case _:
            return CompileError(error.what, error.line, error.fix)
