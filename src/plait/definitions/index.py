"""All definitions of one namespace, without their texts: a fold of what happened to them, small enough for memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.definitions import Description
from plait.kernel.ids import Millis

from .changes import About, Change, TagMoved, TagRemoved, VersionSaved


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One version."""

    dialect: str
    version: str
    hash: str
    at: Millis

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

    def told(self) -> About:
        return values.decode(self.about, About | None) or About()


_decoder = msgspec.json.Decoder(dict[str, History])
_NOTHING = History()


class Index:
    """Changed by `apply` alone."""

    def __init__(self, histories: dict[str, History] | None = None) -> None:
        self._histories = {} if histories is None else histories
        self._seen = {(name, *each.key) for name, history in self._histories.items() for each in history.versions}

    def history(self, name: str) -> History:
        """Empty for a name that nobody used; not to be changed."""
        return self._histories.get(name, _NOTHING)

    def has(self, version: Description) -> bool:
        return (version.name, version.dialect, version.version, version.hash) in self._seen

    def names(self) -> Iterable[str]:
        """Those that have versions."""
        return (name for name, history in self._histories.items() if history.versions)

    def apply(self, change: Change, at: Millis) -> None:
        """Saving the same version again changes nothing: it may have been read from an older record before."""
        history = self._histories.setdefault(change.name, History())
        match change:
            case VersionSaved():
                entry = Entry(change.dialect, change.version, change.hash, at)
                if (change.name, *entry.key) not in self._seen:
                    self._seen.add((change.name, *entry.key))
                    history.versions.append(entry)
                    history.about = change.about
            case TagMoved():
                history.tags[change.tag] = change.version
            case TagRemoved():
                history.tags.pop(change.tag, None)
            case _:
                assert_never(change)

    def snapshot(self) -> Raw:
        return Raw(values.plain(self._histories))

    @classmethod
    def restore(cls, snapshot: Raw) -> Index:
        return cls(_decoder.decode(snapshot))
