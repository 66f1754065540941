"""All script languages behind one interface: a script is checked when it is registered and called when it runs.

The document is the script's input as JSON: any value for jpath and JavaScript, an object of named arguments for the
others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeGuard, get_args

from msgspec import Raw

from .adapters.javascript import JavaScript
from .adapters.lua import Lua
from .offloading import Offloading
from .python import PythonSandbox

Language = Literal["ale", "lua", "jpath", "python", "javascript"]
_KNOWN: tuple[str, ...] = get_args(Language)


def is_language(name: str) -> TypeGuard[Language]:
    return name in _KNOWN


class Interpreter(Protocol):
    """The interpreter of one language."""

    async def check(self, script: str, names: Sequence[str]) -> None: ...

    async def call(
        self, script: str, names: Sequence[str], document: Raw, seed: str, timeout: float | None = None
    ) -> Any: ...

    async def holds(
        self, script: str, names: Sequence[str], document: Raw, seed: str, timeout: float | None = None
    ) -> bool: ...


class Languages:
    """All languages, for one event loop. Costs nothing until the first script; `close` leaves no process behind."""

    def __init__(self) -> None:
        self._offloading = Offloading()
        self._lua = Lua()
        self._javascript = JavaScript()
        self.python = PythonSandbox()
        """Also used for conditions."""
        self._known: dict[Language, Interpreter] = {}

    def _interpreter(self, language: Language) -> Interpreter:
        found = self._known.get(language)
        if found is None:
            found = self._known[language] = self._made(language)
        return found

    def _made(self, language: Language) -> Interpreter:
        """Imported on first use: a program without scripts starts just as fast."""
        match language:
            case "ale":
                from .adapters.ale import Ale

                return Ale(self._offloading)
            case "jpath":
                from .adapters.jpath import JPath

                return JPath(self._offloading)
            case "lua":
                return self._lua
            case "javascript":
                return self._javascript
            case "python":
                from .adapters.python import Python

                return Python(self.python)

    def use(self, language: Language, interpreter: Interpreter) -> None:
        """Replaces the interpreter of a language."""
        self._known[language] = interpreter

    async def check(self, language: Language, script: str, names: Sequence[str]) -> None:
        """Raises `CompileError` if the script does not compile, uses an unknown name, or a name can't be bound."""
        await self._interpreter(language).check(script, names)

    async def call(
        self,
        language: Language,
        script: str,
        names: Sequence[str],
        document: Raw,
        seed: str,
        timeout: float | None = None,
    ) -> Any:
        """Returns the result as JSON data. `seed` determines Lua's random numbers; `timeout` is in seconds, for
        languages limited by time instead of steps. Raises `ScriptError`."""
        return await self._interpreter(language).call(script, names, document, seed, timeout)

    async def holds(
        self,
        language: Language,
        script: str,
        names: Sequence[str],
        document: Raw,
        seed: str,
        timeout: float | None = None,
    ) -> bool:
        """Whether the result counts as true, by the rules of the language."""
        return await self._interpreter(language).holds(script, names, document, seed, timeout)

    async def close(self) -> None:
        self._offloading.close()
        await self._javascript.close()
        await self._lua.close()
        await self.python.stop()
