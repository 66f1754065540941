"""Failures of a process that runs a script. A language turns these into errors of its own."""

from __future__ import annotations


class OutOfTime(Exception):
    """The script exceeded its time; its process was killed."""

    def __init__(self, printed: tuple[str, ...]) -> None:
        super().__init__("out of time")
        self.printed = printed


class Died(Exception):
    """The process ended while the script was running; the message says how."""

    def __init__(self, how: str, printed: tuple[str, ...]) -> None:
        super().__init__(how)
        self.printed = printed
