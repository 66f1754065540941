"""All definitions of one namespace, without their texts: a fold of its changes, small enough for memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never, cast

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.definitions import Description
from plait.kernel.ids import Millis

from .changes import About, Change, DefinitionDeleted, TagMoved, TagRemoved, VersionSaved
from .numbering import MAIN


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One version."""

    dialect: str
    version: str
    hash: str
    at: Millis
    patches: int = 0
    """The number of patches between its text and a version whose text is whole."""
    offers: tuple[str, ...] = ()
    """Other names under which parts of it can be started."""
    owner: str = ""
    """The definition that it is a version of, if it was found by an offered name."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Identifies the version: the same label with another hash is another version."""
        return self.dialect, self.version, self.hash


class History(msgspec.Struct):
    """The history of one name. It may have only tags: those of code that is loaded and not saved. Only the fold may
    change it."""

    versions: list[Entry] = []
    """Oldest first."""
    about: Raw = values.NULL
    """The `About` of the newest version. Kept undecoded: most are never read."""
    tags: dict[str, str] = {}
    undo: dict[str, list[str]] = {}
    """Earlier versions by tag, latest last."""
    redo: dict[str, list[str]] = {}
    """Versions that were undone since the last move, by tag, latest last."""
    deleted: bool = False
    """Whether it is hidden until it is saved again. A label is never reused, so its versions stay."""
    offer: str = ""
    """The offered name, if this is a view of another name's history."""
    withdrawn: bool = False
    """Whether the current version of that other name no longer offers it."""

    def told(self) -> About:
        about = values.decode(self.about, About | None) or About()
        if not self.offer:
            return about
        offer = next((each for each in about.offers if each.name == self.offer), None)
        return About() if offer is None else About(offer.doc, offer.input_schema, offer.output_schema)


_decoder = msgspec.json.Decoder(dict[str, History])
_NOTHING = History()
_UNDONE = 100
"""Maximum number of moves of a tag that can be undone; older ones are only in the stream."""


class Index:
    """The index of a namespace; only `apply` and `adopt` change it."""

    def __init__(self, histories: dict[str, History] | None = None) -> None:
        self._histories = {} if histories is None else histories
        self._seen = {(name, *each.key) for name, history in self._histories.items() for each in history.versions}
        self._owners: dict[str, set[str]] = {}
        for name, history in self._histories.items():
            self._note_offers(name, history.versions)

    def history(self, name: str) -> History:
        """Returns the history of a name, which must not be changed; empty for an unknown or deleted name. For a name
        that a definition offers: the versions that offer it, with their tags."""
        found = self.past(name)
        if found.versions and not found.deleted:
            return found
        owners = self.owners(name)
        if len(owners) == 1:
            return self._offered(owners[0], name)
        return _NOTHING if found.deleted else found

    def readable(self, name: str) -> History:
        """Like `history`, but also for a deleted name."""
        found = self.past(name)
        owners = sorted(self._owners.get(name, ()))
        return found if found.versions or len(owners) != 1 else self._offered(owners[0], name)

    def owners(self, name: str) -> list[str]:
        """Returns the definitions that offer a name."""
        return [each for each in sorted(self._owners.get(name, ())) if not self.past(each).deleted]

    def _offered(self, owner: str, name: str) -> History:
        found = self.past(owner)
        versions = [msgspec.structs.replace(each, owner=owner) for each in found.versions if name in each.offers]
        labels = {each.version for each in versions}
        meant = current(found)
        return History(
            versions,
            found.about,
            {tag: version for tag, version in found.tags.items() if version in labels},
            offer=name,
            withdrawn=meant is None or name not in meant.offers,
        )

    def _note_offers(self, name: str, versions: Iterable[Entry]) -> None:
        for entry in versions:
            for offer in entry.offers:
                if offer != name:
                    self._owners.setdefault(offer, set()).add(name)

    def past(self, name: str) -> History:
        """Returns a name's own history, also if it was deleted."""
        return self._histories.get(name, _NOTHING)

    def has(self, version: Description) -> bool:
        return (version.name, version.dialect, version.version, version.hash) in self._seen

    def names(self) -> Iterable[str]:
        """Yields the names that have versions and were not deleted, and the names that they offer."""
        own = {name for name, history in self._histories.items() if history.versions and not history.deleted}
        offered = (name for name in self._owners if name not in own and not self.history(name).withdrawn)
        return [*own, *(name for name in offered if self.history(name).versions)]

    def apply(self, change: Change, at: Millis) -> None:
        """Folds a change. A version that is known changes nothing: it may have come from an older record before."""
        history = self._histories.setdefault(change.name, History())
        match change:
            case VersionSaved():
                history.deleted = False
                entry = Entry(change.dialect, change.version, change.hash, at, change.patches, change.offers)
                if (change.name, *entry.key) not in self._seen:
                    self._seen.add((change.name, *entry.key))
                    history.versions.append(entry)
                    self._note_offers(change.name, [entry])
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

    def adopt(self, other: Index) -> None:
        """Takes over the state of a snapshot, all at once."""
        self._histories, self._seen, self._owners = other._histories, other._seen, other._owners

    def snapshot(self) -> Raw:
        return Raw(values.plain(self._histories))

    @classmethod
    def restore(cls, snapshot: Raw) -> Index:
        return cls(_decoder.decode(snapshot))


def current(history: History) -> Entry | None:
    """Returns the version that the plain name means: that of the tag `main`, or else the newest."""
    if history.withdrawn:
        return None
    main = history.tags.get(MAIN)
    found = (entry for entry in reversed(history.versions) if entry.version == main)
    return next(found, None) or last(history)


def last(history: History) -> Entry | None:
    return history.versions[-1] if history.versions else None


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
