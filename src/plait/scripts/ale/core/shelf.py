"""Where core functions of one theme are put together with their names and argument counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from plait.scripts.ale.kinds import Builtin, Value

F = TypeVar("F", bound=Callable[..., Value])


class Shelf:
    """The core functions of one theme, by name."""

    def __init__(self) -> None:
        self.functions: dict[str, Builtin] = {}

    def put(self, *names: str, least: int, most: int | None = None, suspends: bool = False) -> Callable[[F], F]:
        """Puts a function here under its names; without `most` it takes any number of arguments above `least`."""

        def put(run: F) -> F:
            for name in names:
                self.functions[name] = Builtin(name, least, most, run, suspends=suspends)
            return run

        return put
