"""All definitions of one namespace, without their texts: a fold of what happened to them, small enough for memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never, cast

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.definitions import Description
from plait.kernel.ids import Millis

from .changes import About, Change, DefinitionDeleted, TagMoved, TagRemoved, VersionSaved


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One version."""

    dialect: str
    version: str
    hash: str
    at: Millis
    patches: int = 0
    """Between its text and a version whose text is whole."""

    @property
    def key(self) -> tuple[str, str, str]:
        """The same label with another hash is another version."""
        return self.dialect, self.version, self.hash


class History(msgspec.Struct):
    """One name. It may have tags alone: those of code, which is loaded and not saved. Changed by the fold only."""

    versions: list[Entry] = []
    """Oldest first."""
    about: Raw = values.NULL
    """Of the newest version. Kept as text: most are never looked at."""
    tags: dict[str, str] = {}
    undo: dict[str, list[str]] = {}
    """By tag: where it was before, the latest last."""
    redo: dict[str, list[str]] = {}
    """By tag: what was undone since its last move, the latest last."""
    deleted: bool = False
    """What is saved is hidden until it is saved again. A label is never used twice, so its versions stay."""

    def told(self) -> About:
        return values.decode(self.about, About | None) or About()


_decoder = msgspec.json.Decoder(dict[str, History])
_NOTHING = History()
_UNDONE = 100
"""Moves of a tag that can be undone; older ones are in the stream."""


class Index:
    """Changed by `apply` alone."""

    def __init__(self, histories: dict[str, History] | None = None) -> None:
        self._histories = {} if histories is None else histories
        self._seen = {(name, *each.key) for name, history in self._histories.items() for each in history.versions}

    def history(self, name: str) -> History:
        """Empty for a name that nobody used, or that was deleted; not to be changed."""
        found = self.past(name)
        return _NOTHING if found.deleted else found

    def past(self, name: str) -> History:
        """Also if it was deleted."""
        return self._histories.get(name, _NOTHING)

    def has(self, version: Description) -> bool:
        return (version.name, version.dialect, version.version, version.hash) in self._seen

    def names(self) -> Iterable[str]:
        """Those that have versions, and were not deleted."""
        return (name for name, history in self._histories.items() if history.versions and not history.deleted)

    def apply(self, change: Change, at: Millis) -> None:
        """Saving the same version again changes nothing: it may have been read from an older record before."""
        history = self._histories.setdefault(change.name, History())
        match change:
            case VersionSaved():
                history.deleted = False
                entry = Entry(change.dialect, change.version, change.hash, at, change.patches)
                if (change.name, *entry.key) not in self._seen:
                    self._seen.add((change.name, *entry.key))
                    history.versions.append(entry)
                    history.about = change.about
            case TagMoved():
                _move(history, change)
            case TagRemoved():
                for kept in (history.tags, history.undo, history.redo):
                    kept.pop(change.tag, None)
            case DefinitionDeleted():
                history.deleted = True
                for kept in (history.tags, history.undo, history.redo):
                    kept.clear()
            case _:
                assert_never(change)

    def snapshot(self) -> Raw:
        return Raw(values.plain(self._histories))

    @classmethod
    def restore(cls, snapshot: Raw) -> Index:
        return cls(_decoder.decode(snapshot))


def _move(history: History, change: TagMoved) -> None:
    tag, left = change.tag, history.tags.get(change.tag)
    undo, redo = history.undo.setdefault(tag, []), history.redo.setdefault(tag, [])
    history.tags[tag] = change.version
    match change.move:
        case "move":
            redo.clear()
            if left is not None:
                undo.append(left)
        case "undo":
            undo.pop()
            redo.append(cast("str", left))
        case "redo":
            redo.pop()
            undo.append(cast("str", left))
        case _:
            assert_never(change.move)
    del undo[:-_UNDONE]
