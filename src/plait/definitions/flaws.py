"""What is wrong with a definition that someone wrote: all of it at once, each flaw with its place."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from plait.kernel.errors import Flaw, InvalidInput

MOST = 200
"""Flaws that are told. Nobody reads more, and a definition that is wrong a hundred thousand times must not keep others
waiting until each is described."""


class Note(msgspec.Struct, frozen=True):
    """A flaw as its reader noted it, when it is not yet known how many there will be."""

    pointer: str
    what: str
    fix: str
    code: str = ""
    """Where a dialect has one for each sort of flaw."""

    @property
    def message(self) -> str:
        return f"{self.what}; {self.fix}" if self.fix else self.what

    def flaw(self, code: str) -> Flaw:
        """`code` is that of the whole refusal."""
        return Flaw(self.code or code, self.pointer, self.message)


class Summary(msgspec.Struct, frozen=True):
    """What an error says of several flaws: its text has room for the first."""

    what: str
    fix: str
    flaws: Sequence[Flaw]


def summary(code: str, notes: Sequence[Note]) -> Summary:
    first, *others = notes
    more = f" (and {'at least ' if len(notes) >= MOST else ''}{len(others)} more)" if others else ""
    what, fix = (first.what, first.fix + more) if first.fix else (first.what + more, "")
    return Summary(what, fix, [note.flaw(code) for note in notes[:MOST]])


class InvalidDefinition(InvalidInput):
    """It is no definition of its dialect. The text names the first flaw, `flaws` has the first `MOST`."""

    def __init__(self, code: str, notes: Sequence[Note]) -> None:
        found = summary(code, notes)
        super().__init__(code, found.what, fix=found.fix, flaws=found.flaws)


def escape(part: str) -> str:
    """A key as a part of a JSON pointer."""
    return part.replace("~", "~0").replace("/", "~1")


def parts_of(pointer: str) -> list[str]:
    """The keys of a JSON pointer."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
