"""The languages of scripts, as one: checked when a step is registered, called when it runs.

A document is what a script works on, as JSON: for Ale and Lua an object of arguments by name, for jpath any value.
A script that fails raises a `WorkError` that is not tried again; its text starts with the line, where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from msgspec import Raw

from plait.dialects.goals.steps.attribute import Language

from .lua import Lua
from .offloading import Offloading


class _Interpreter(Protocol):
    async def check(self, script: str, names: Sequence[str]) -> None: ...

    async def call(self, script: str, names: Sequence[str], document: Raw, token: str) -> Any: ...

    async def holds(self, script: str, names: Sequence[str], document: Raw, token: str) -> bool: ...


class Languages:
    """All of them, for one event loop. Costs nothing until the first script; `close` leaves no process behind."""

    def __init__(self) -> None:
        self._offloading = Offloading()
        self._lua = Lua()
        self._known: dict[Language, _Interpreter] = {}

    def _interpreter(self, language: Language) -> _Interpreter:
        found = self._known.get(language)
        if found is None:
            found = self._known[language] = self._made(language)
        return found

    def _made(self, language: Language) -> _Interpreter:
        """Imported when it is needed: a program that uses none should start as quickly as before."""
        match language:
            case "ale":
                from .ale import Ale

                return Ale(self._offloading)
            case "jpath":
                from .jpath import JPath

                return JPath(self._offloading)
            case "lua":
                return self._lua

    async def check(self, language: Language, script: str, names: Sequence[str]) -> None:
        """Raises `Uncompilable` if the script does not compile, uses an unknown name, or a name can't be bound."""
        await self._interpreter(language).check(script, names)

    async def call(self, language: Language, script: str, names: Sequence[str], document: Raw, token: str) -> Any:
        """The result as JSON data. `token` decides the random numbers of Lua."""
        return await self._interpreter(language).call(script, names, document, token)

    async def holds(self, language: Language, script: str, names: Sequence[str], document: Raw, token: str) -> bool:
        """Whether the result counts as true, by the rules of the language."""
        return await self._interpreter(language).holds(script, names, document, token)

    async def close(self) -> None:
        self._offloading.close()
        await self._lua.close()
