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
from .numbering import MAIN


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One version."""

    dialect: str
    version: str
    hash: str
    at: Millis
    patches: int = 0
    """Between its text and a version whose text is whole."""
    offers: tuple[str, ...] = ()
    """Other names under which parts of it can be started."""
    owner: str = ""
    """The definition that it is a version of, where it was found by the name of an offer."""

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
    offer: str = ""
    """Of a view of another name's history: the offer that was looked for."""
    withdrawn: bool = False
    """That offer is not in the version that the other name means now."""

    def told(self) -> About:
        about = values.decode(self.about, About | None) or About()
        if not self.offer:
            return about
        offer = next((each for each in about.offers if each.name == self.offer), None)
        return About() if offer is None else About(offer.doc, offer.input_schema, offer.output_schema)


_decoder = msgspec.json.Decoder(dict[str, History])
_NOTHING = History()
_UNDONE = 100
"""Moves of a tag that can be undone; older ones are in the stream."""


class Index:
    """Changed by `apply` and `adopt` alone."""

    def __init__(self, histories: dict[str, History] | None = None) -> None:
        self._histories = {} if histories is None else histories
        self._seen = {(name, *each.key) for name, history in self._histories.items() for each in history.versions}
        self._owners: dict[str, set[str]] = {}
        for name, history in self._histories.items():
            self._note_offers(name, history.versions)

    def history(self, name: str) -> History:
        """Empty for a name that nobody used, or that was deleted; not to be changed. Of a name that a definition
        offers: the versions that do, with the tags that are on them."""
        found = self.past(name)
        if found.versions and not found.deleted:
            return found
        owners = self.owners(name)
        if len(owners) == 1:
            return self._offered(owners[0], name)
        return _NOTHING if found.deleted else found

    def readable(self, name: str) -> History:
        """The same, also if it was deleted."""
        found = self.past(name)
        owners = sorted(self._owners.get(name, ()))
        return found if found.versions or len(owners) != 1 else self._offered(owners[0], name)

    def owners(self, name: str) -> list[str]:
        """The definitions that offer a name."""
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
        """Also if it was deleted."""
        return self._histories.get(name, _NOTHING)

    def has(self, version: Description) -> bool:
        return (version.name, version.dialect, version.version, version.hash) in self._seen

    def names(self) -> Iterable[str]:
        """Those that have versions, and were not deleted; and what they offer."""
        own = {name for name, history in self._histories.items() if history.versions and not history.deleted}
        offered = (name for name in self._owners if name not in own and not self.history(name).withdrawn)
        return [*own, *(name for name in offered if self.history(name).versions)]

    def apply(self, change: Change, at: Millis) -> None:
        """Saving the same version again changes nothing: it may have been read from an older record before."""
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
        """Becomes as a snapshot says, all at once."""
        self._histories, self._seen, self._owners = other._histories, other._seen, other._owners

    def snapshot(self) -> Raw:
        return Raw(values.plain(self._histories))

    @classmethod
    def restore(cls, snapshot: Raw) -> Index:
        return cls(_decoder.decode(snapshot))


def current(history: History) -> Entry | None:
    """The version that the plain name means: that of the tag `main`, or else the newest."""
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
