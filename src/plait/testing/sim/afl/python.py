"""Python scripts in a simulation: the real sandbox, answering synchronously."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from plait.kernel.values import Json, plain
from plait.scripts.python import PythonError, PythonLimits, PythonSandbox
from plait.scripts.python.limits import DEFAULT
from plait.scripts.python.run import Run


class InstantPython(PythonSandbox):
    """One sandbox for all engines of this process."""

    def __init__(self) -> None:
        super().__init__(size=1)
        self._known: dict[tuple[str, bytes], Any] = {}

    async def run(
        self,
        code: str,
        arguments: Mapping[str, Json],
        limits: PythonLimits = DEFAULT,
        printed: Callable[[str], None] = print,
    ) -> Any:
        """A script depends only on its arguments, so its result is cached."""
        place = (code, plain(dict(arguments)))
        if place not in self._known:
            try:
                self._known[place] = self._work(Run(code, arguments, limits, printed))
            except PythonError as error:
                self._known[place] = error.with_traceback(None)
        found = self._known[place]
        if isinstance(found, PythonError):  # a new one: a cached one would collect tracebacks
            raise PythonError(found.kind, found.message, found.line, found.told)
        return found

    async def stop(self) -> None:
        """Does nothing: other engines still use it."""


@cache
def instant_python() -> InstantPython:
    """Started when the first script runs; ends with this process."""
    return InstantPython()
