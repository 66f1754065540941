"""Registries of the core functions of one theme, with their names and argument counts."""

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
        """Registers a function under its names; without `most` it takes any number of arguments from `least` up."""

        def put(run: F) -> F:
            for name in names:
                self.functions[name] = Builtin(name, least, most, run, suspends=suspends)
            return run

        return put
