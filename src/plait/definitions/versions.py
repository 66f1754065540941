"""The versions of one name from all sources: in one order, and found by label or hash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from plait.api.definition import Version
from plait.kernel.definitions import Description
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import Millis

from .index import Entry, History
from .library import CODE

_SHORTEST_HASH = 6
"""Minimum length of the beginning of a hash; a shorter one would soon be ambiguous."""


class Known(NamedTuple):
    entry: Entry
    namespace: str
    """The namespace whose library stores its text."""
    description: Description | None
    """The description, if it is code that this process has loaded."""

    @property
    def startable(self) -> bool:
        return self.description is not None or self.namespace != CODE

    def version(self) -> Version:
        return Version(
            version=self.entry.version,
            hash=self.entry.hash,
            created_at=self.entry.at,
            loaded=self.startable,
        )


def merged(loaded: Sequence[Description], kept: Mapping[str, History], now: Millis) -> list[Known]:
    """Merges versions, oldest first; among equal ages, loaded ones come last, in the order of declaration. `kept` has
    the history of the name in each namespace that counts."""
    found: dict[tuple[str, str, str], tuple[Millis, Known]] = {}
    for namespace, history in kept.items():
        ages = accumulate((entry.at for entry in history.versions), max)  # clocks differ, the order of saving counts
        for age, entry in zip(ages, history.versions, strict=True):
            found[entry.key] = age, Known(entry, namespace, None)
    for each in loaded:
        entry = Entry(each.dialect, each.version, each.hash, now)
        age, known = found.pop(entry.key, (now, Known(entry, CODE, None)))
        found[entry.key] = age, known._replace(description=each)
    return [known for _, known in sorted(found.values(), key=lambda pair: pair[0])]


def choose(name: str, versions: Sequence[Known], wanted: str) -> Known | None:
    """Finds a version by its label, its hash or the beginning of the hash; the newest, if a label was used again."""
    newest_first = versions[::-1]
    for known in newest_first:
        if wanted in (known.entry.version, known.entry.hash):
            return known
    if len(wanted) < _SHORTEST_HASH:
        return None
    found = [known for known in newest_first if known.entry.hash.startswith(wanted)]
    if len({known.entry.hash for known in found}) > 1:
        raise InvalidInput(
            "definitions.ambiguous_hash",
            f"`{name}@{wanted}` could be several versions",
            why=", ".join(f"{known.entry.version} is {known.entry.hash}" for known in found[:5]),
            fix="give more of the hash, or a version",
        )
    return found[0] if found else None
