"""How a process can fail its script. A language turns these into errors of its own."""

from __future__ import annotations


class OutOfTime(Exception):
    """The script did not end in time; its process is no more."""

    def __init__(self, printed: tuple[str, ...]) -> None:
        super().__init__("out of time")
        self.printed = printed


class Died(Exception):
    """The process ended in the middle of the script; the message says how."""

    def __init__(self, how: str, printed: tuple[str, ...]) -> None:
        super().__init__(how)
        self.printed = printed
