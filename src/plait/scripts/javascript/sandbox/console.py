"""The script's `console` output, up to its limits."""

from __future__ import annotations

from collections.abc import Callable

_CUT = "(more was printed, but a script may not print so much)"


class Console:
    def __init__(self, write: Callable[[bytes], None], lines: int, room: int) -> None:
        self._write = write
        self._lines = lines
        self._room = room
        self._cut = False

    def print(self, text: str) -> None:
        if self._cut:
            return
        line = text.encode(errors="replace")
        if self._lines <= 0 or len(line) > self._room:
            self._cut = True
            line = _CUT.encode()
        self._lines -= 1
        self._room -= len(line)
        self._write(line)
