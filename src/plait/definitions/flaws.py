"""The flaws of a definition that someone wrote: all of them at once, each with its place."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from plait.kernel.errors import Flaw, InvalidInput

MOST = 200
"""Maximum number of flaws to report. Nobody reads more, and describing a hundred thousand would block other work."""


class Note(msgspec.Struct, frozen=True):
    """A flaw as its reader noted it, before the total number of flaws is known."""

    pointer: str
    what: str
    fix: str
    code: str = ""
    """The code of this kind of flaw, if its dialect has one."""

    @property
    def message(self) -> str:
        return f"{self.what}; {self.fix}" if self.fix else self.what

    def flaw(self, code: str) -> Flaw:
        """Makes the flaw. `code`: the code of the whole refusal, used if the note has none."""
        return Flaw(self.code or code, self.pointer, self.message)


class Summary(msgspec.Struct, frozen=True):
    """The text of an error about several flaws, which has room for the first."""

    what: str
    fix: str
    flaws: Sequence[Flaw]


def summary(code: str, notes: Sequence[Note]) -> Summary:
    first, *others = notes
    more = f" (and {'at least ' if len(notes) >= MOST else ''}{len(others)} more)" if others else ""
    what, fix = (first.what, first.fix + more) if first.fix else (first.what + more, "")
    return Summary(what, fix, [note.flaw(code) for note in notes[:MOST]])


class InvalidDefinition(InvalidInput):
    """The definition is not valid in its dialect. The text names the first flaw, `flaws` has the first `MOST`."""

    def __init__(self, code: str, notes: Sequence[Note]) -> None:
        found = summary(code, notes)
        super().__init__(code, found.what, fix=found.fix, flaws=found.flaws)


def escape(part: str) -> str:
    """Escapes a key as a part of a JSON pointer."""
    return part.replace("~", "~0").replace("/", "~1")


def parts_of(pointer: str) -> list[str]:
    """Splits a JSON pointer into its keys."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
