"""The outcome of a script."""

from __future__ import annotations

from typing import NamedTuple

from plait.kernel.values import Json


class LuaOutcome(NamedTuple):
    """The value that a script returned, and the lines that it printed."""

    value: Json
    printed: tuple[str, ...]
