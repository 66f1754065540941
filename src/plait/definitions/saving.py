"""Which version a definition becomes when it is saved, given those that are there."""

from __future__ import annotations

import msgspec

from plait.kernel.definitions import Description
from plait.kernel.errors import Conflict

from .index import Entry, History, Index


class Saving:
    """One definition on its way into a library. It is asked again when another process was faster, and remembers its
    last answer."""

    def __init__(self, draft: Description, label: str | None) -> None:
        self._draft = draft
        self._label = label
        self.version = ""
        self.new = False

    def decide(self, index: Index) -> list[Description]:
        """What to write: nothing, if it is there."""
        history = index.history(self._draft.name)
        self._check_dialect(history)
        known = self._known(history)
        self.new = known is None
        self.version = known.version if known is not None else self._label or _next_number(history)
        return [msgspec.structs.replace(self._draft, version=self.version)] if self.new else []

    def entry(self, index: Index) -> Entry:
        """The version that it became, or was."""
        versions = reversed(index.history(self._draft.name).versions)
        return next(each for each in versions if (each.version, each.hash) == (self.version, self._draft.hash))

    def _known(self, history: History) -> Entry | None:
        """Without a label only the newest version counts: to save what an older one said makes that the newest."""
        if self._label is None:
            newest = history.versions[-1] if history.versions else None
            return newest if newest is not None and newest.hash == self._draft.hash else None
        known = next((each for each in history.versions if each.version == self._label), None)
        if known is not None and known.hash != self._draft.hash:
            raise Conflict(
                "definitions.version_exists",
                f"`{self._draft.name}@{self._label}` exists with other content",
                why="what runs have started from never changes",
                fix="save it under another version, or under none to get the next number",
            )
        return known

    def _check_dialect(self, history: History) -> None:
        for entry in history.versions[:1]:
            if entry.dialect != self._draft.dialect:
                raise other_dialect(self._draft.name, entry.dialect)


def other_dialect(name: str, dialect: str) -> Conflict:
    return Conflict(
        "definitions.other_dialect", f"`{name}` is a definition of the dialect `{dialect}`", fix="use another name"
    )


def _next_number(history: History) -> str:
    taken = {entry.version for entry in history.versions}
    number = len(taken) + 1
    while str(number) in taken:
        number += 1
    return str(number)
