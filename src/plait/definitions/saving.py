"""Decides which version a definition becomes when it is saved, given the existing ones."""

from __future__ import annotations

import msgspec

from plait.kernel.definitions import Description, Numbering
from plait.kernel.errors import Conflict

from .changes import Change, TagMoved, saved
from .index import Entry, History, Index, current, last
from .numbering import MAIN, next_label
from .tags import check_expected

COMPACTED_AT = 20
"""Length of a chain of patches at which a version is stored whole, so that reading one never takes more steps."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request to save a definition."""

    draft: Description
    """The whole definition, even if it was made by a patch; its version is not decided yet."""
    label: str | None = None
    numbering: Numbering = "count"
    breaking: bool = False
    expected: str | None = None
    """The version that the plain name must mean now; None: any."""

    @property
    def follows_main(self) -> bool:
        return self.numbering == "minor"


class Saving:
    """Saves one definition into a library. It decides again if another process was faster, and keeps its last
    decision."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._draft = request.draft
        self.version = ""
        self.new = False

    def decide(self, index: Index) -> tuple[list[Description], list[Change]]:
        """Returns the texts and changes to write; none if an equal version exists."""
        history = index.past(self._draft.name)
        self._check_dialect(history)
        base = current(history)
        meant = None if base is None or history.deleted else base.version
        check_expected(self._draft.name, MAIN, meant, self._request.expected)
        known = self._known(history)
        self.new = known is None
        if known is not None:
            self.version = known.version
            return [], self._restored(history)
        taken = (entry.version for entry in history.versions)
        self.version = self._request.label or next_label(
            self._request.numbering, taken, None if base is None else base.version, breaking=self._request.breaking
        )
        return self._written(history)

    def entry(self, index: Index) -> Entry:
        """Returns the version that was saved, or the equal one that existed."""
        versions = reversed(index.past(self._draft.name).versions)
        return next(each for each in versions if (each.version, each.hash) == (self.version, self._draft.hash))

    def _written(self, history: History) -> tuple[list[Description], list[Change]]:
        whole = msgspec.structs.replace(self._draft, version=self.version)
        patches = _patches(history, whole)
        text = msgspec.structs.replace(whole, body=None) if patches else whole
        return [text], self._changes(whole, patches)

    def _changes(self, whole: Description, patches: int) -> list[Change]:
        main = [TagMoved(whole.name, MAIN, self.version)] if self._request.follows_main else []
        return [saved(whole, patches), *main]

    def _restored(self, history: History) -> list[Change]:
        """Returns the changes that restore a deleted definition: the equal version keeps its label."""
        if not history.deleted:
            return []
        found = next(entry for entry in history.versions if entry.version == self.version)
        return self._changes(msgspec.structs.replace(self._draft, version=self.version), found.patches)

    def _known(self, history: History) -> Entry | None:
        """Finds an equal version. Without a label, only the current version counts: saving the content of an older one
        again makes a new version."""
        label, draft = self._request.label, self._draft
        if label is None:
            found = current(history) if self._request.follows_main else last(history)
            return found if found is not None and found.hash == draft.hash else None
        known = next((each for each in history.versions if each.version == label), None)
        if known is not None and known.hash != draft.hash:
            raise Conflict(
                "definitions.version_exists",
                f"`{draft.name}@{label}` exists with other content",
                why="what runs have started from never changes",
                fix="save it under another version, or under none to get the next number",
            )
        return known

    def _check_dialect(self, history: History) -> None:
        for entry in history.versions[:1]:
            if entry.dialect != self._draft.dialect:
                raise other_dialect(self._draft.name, entry.dialect, deleted=history.deleted)


def _patches(history: History, whole: Description) -> int:
    """Returns the length of its chain of patches; 0 if its text is stored whole."""
    if whole.patch is None:
        return 0
    key = (whole.dialect, whole.patch.base, whole.patch.base_hash)
    base = next(each for each in history.versions if each.key == key)
    return (base.patches + 1) % COMPACTED_AT


def other_dialect(name: str, dialect: str, *, deleted: bool = False) -> Conflict:
    is_one = "was, until it was deleted," if deleted else "is"
    return Conflict(
        "definitions.other_dialect",
        f"`{name}` {is_one} a definition of the dialect `{dialect}`",
        fix="use another name",
    )
