"""How a list of runs is read: by which index, and in what order. The same for every SQL store.

Each index holds places `(created_at, id)` of the runs that have something in common: a status, a definition, a label, a
parent, a text. A list that asks for several things is read from the index that has the fewest places, and the other
conditions are checked on the rows it leads to. Where the index has several parts, one for each status, say, each gives
its newest and they are merged. Nothing is sorted that is larger than `FEW`, except by a store whose index of texts has
no order: there the newest texts are looked at first, so that one that many runs have is found among those.

`list_steps` only decides. It yields what is to be asked of the database, a `Count`, `Rows` or `Names`, is sent the
answer, and returns the list: so that one store can do it in a thread and another can await it.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.kernel.run_text import SHORTEST, beginnings, fold, home
from plait.kernel.store import RunFilter, RunRow

Index = Literal[
    "of_status", "of_blocked", "of_definition", "of_label", "of_parent", "of_prefix", "of_text", "of_newest_text"
]
Key: TypeAlias = tuple[str, ...]

FEW = 2_000
"""Places that may all be looked at, and sorted."""
_SOME = 20_000
"""As far as is counted where several indexes have more than a few."""
_MANY_NAMES = 50
"""Definitions that a text search looks at one by one."""
STATUSES = ("running", "completed", "failed", "cancelled")
_KEPT_AS = {"waiting": "running", "working": "running"}
_KEY_COLUMNS = 3
_LAST_CHARACTER = chr(sys.maxunicode)


@dataclass(frozen=True, slots=True)
class Source:
    """The parts of an index to read; the keys of each are padded to the same length."""

    index: Index
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Count:
    """How many places a source has between the list's bounds; of each part as many as this at most."""

    source: Source
    most: int


@dataclass(frozen=True, slots=True)
class Rows:
    """The runs of a source that fit the whole filter, newest first, as many as the list is long."""

    source: Source
    text: TextMatch | None


@dataclass(frozen=True, slots=True)
class Names:
    """Pairs of a namespace and a dialect, or a definition, that have runs; of one namespace or (None) of all."""

    of: Literal["dialects", "definitions"]
    namespace: str | None


Step: TypeAlias = Count | Rows | Names
Steps: TypeAlias = Generator[Step, Any, list[RunRow]]


@dataclass(frozen=True, slots=True)
class TextMatch:
    """What a text search looks for, as a store can check it on a row."""

    folded: str
    starts: tuple[str, ...]
    """How ids may begin that are found by it."""
    definitions: tuple[str, ...]
    """Those whose names have it."""
    anywhere: bool
    """Look for it in labels, ids and errors too."""


def list_steps(query: RunFilter, *, sorts_texts: bool) -> Steps:
    """`sorts_texts`: the store has to sort all that a text search found."""
    if query.statuses == [] or query.limit <= 0:
        return []
    pairs = yield from _dialects(query)
    text = yield from _text_match(query)
    if query.text and text is None:
        return []
    best, places = yield from _rarest(_choice(query, pairs))
    if text is None or places <= FEW:
        return (yield from _merged(query, [Rows(part, text) for part in best]))
    return (yield from _search(query, text, best, _namespaces(pairs), sorts_texts))


def bounds(query: RunFilter) -> tuple[tuple[int, str], int]:
    """The place that all are older than, and the moment that none is older than."""
    before = min(place for place in (query.after, _until(query), (2**62, "")) if place is not None)
    return before, -(2**62) if query.since is None else query.since


def _until(query: RunFilter) -> tuple[int, str] | None:
    return None if query.until is None else (query.until, "")


# -- which index -------------------------------------------------------------------------------------------------------

Sources: TypeAlias = tuple[Source, ...]
Pair: TypeAlias = tuple[str, str]
"""Of a namespace and a dialect, or a definition, of it."""


def source(index: Index, keys: Iterable[Key]) -> Source:
    return Source(index, tuple((*key, *[""] * (_KEY_COLUMNS - len(key))) for key in keys))


def _dialects(query: RunFilter) -> Generator[Step, Any, list[Pair]]:
    """Namespaces and dialects that runs of the list may have."""
    if query.namespace is not None and query.dialect is not None:
        return [(query.namespace, query.dialect)]
    pairs: list[Pair] = yield Names("dialects", query.namespace)
    return [pair for pair in pairs if query.dialect in (None, pair[1])]


def _by_status(query: RunFilter, pairs: list[Pair]) -> Sources:
    """All runs of the statuses asked for."""
    asked = {_KEPT_AS.get(status, status) for status in query.statuses or STATUSES}
    found = [source("of_status", [(*pair, status) for pair in pairs for status in STATUSES if status in asked])]
    if "blocked" in asked:
        found.append(source("of_blocked", [(space,) for space in _namespaces(pairs)]))
    return tuple(found)


def _choice(query: RunFilter, pairs: list[Pair]) -> list[Sources]:
    """Any of these has all runs of the list. The first have less, as a rule, than those of all statuses."""
    found: list[Source] = []
    spaces = _namespaces(pairs)
    if query.parent is not None:
        found.append(source("of_parent", [(query.parent,)]))
    for label in (query.labels or {}).items():
        found.append(source("of_label", [(space, *label) for space in spaces]))
    if query.definition is not None:
        found.append(source("of_definition", [(space, query.definition) for space in spaces]))
    if query.id_prefix:
        found.append(source("of_prefix", [(query.id_prefix, _past(query.id_prefix))]))
    choice: list[Sources] = [(part,) for part in found]
    ordered = any(part.index != "of_prefix" for part in found)
    if not ordered or query.statuses is not None or query.dialect is not None:
        choice.append(_by_status(query, pairs))
    return choice


def _rarest(choice: list[Sources]) -> Generator[Step, Any, tuple[Sources, int]]:
    """The sources with the fewest places, and how many they have."""
    if len(choice) == 1:
        return choice[0], _SOME
    # Ids that begin alike are in no order of time: more than a few can't be sorted
    ordered = [sources for sources in choice if sources[0].index != "of_prefix"]
    for most, candidates in ((FEW, choice), (_SOME, ordered)):
        counted: list[int] = []
        for sources in candidates:
            counted.append((yield from _count(sources, most + 1)))
        fewest = min(counted)
        if fewest <= most:
            return candidates[counted.index(fewest)], fewest
    return ordered[0], _SOME


# -- texts -------------------------------------------------------------------------------------------------------------


def _text_match(query: RunFilter) -> Generator[Step, Any, TextMatch | None]:
    if not query.text or not _is_storable(query.text):
        return None
    folded = fold(query.text)
    pairs: list[Pair] = yield Names("definitions", query.namespace)
    names = dict.fromkeys(name for _, name in pairs if folded in fold(name))
    starts = sorted(beginnings(DEFAULT_NAMESPACE, query.text))
    return TextMatch(folded, tuple(starts), tuple(names), len(folded) >= SHORTEST)


def _search(query: RunFilter, text: TextMatch, best: Sources, spaces: list[str], sorts_texts: bool) -> Steps:
    """By the text: what else is asked for leaves too many."""
    asked = yield from _named(text, best, spaces)
    found: list[RunRow] = []
    if text.anywhere and sorts_texts and len(spaces) == 1:
        found = yield Rows(source("of_newest_text", [(spaces[0],)]), text)
    if text.anywhere and len(found) < query.limit:
        asked.append(Rows(source("of_text", [(space,) for space in spaces]), text))
    return (yield from _merged(query, asked, found))


def _named(text: TextMatch, best: Sources, spaces: list[str]) -> Generator[Step, Any, list[Rows]]:
    """Runs whose ids begin with it, or whose definitions' names have it."""
    only_named = replace(text, anywhere=False)
    starts = [home(space) + start for space in spaces for start in text.starts]
    beginning = source("of_prefix", [(start, _past(start)) for start in starts])
    begun = yield from _count((beginning,), FEW + 1)
    if begun > FEW or len(text.definitions) > _MANY_NAMES:
        return [Rows(part, only_named) for part in best]
    named = source("of_definition", [(space, name) for space in spaces for name in text.definitions])
    return [Rows(part, only_named) for part in (beginning, named)]


def _namespaces(pairs: list[Pair]) -> list[str]:
    return list(dict.fromkeys(space for space, _ in pairs))


def _past(beginning: str) -> str:
    """After all that begins so."""
    return beginning + _LAST_CHARACTER


def _is_storable(text: str) -> bool:
    """A lone surrogate is in no database."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


# -- together ----------------------------------------------------------------------------------------------------------


def _count(sources: Sources, most: int) -> Generator[Step, Any, int]:
    places = 0
    for part in sources:
        if part.keys:
            places += yield Count(part, most)
    return places


def _merged(query: RunFilter, asked: Iterable[Rows], known: Iterable[RunRow] = ()) -> Steps:
    found = {row.id: row for row in known}
    for step in asked:
        if step.source.keys:
            rows: list[RunRow] = yield step
            found.update((row.id, row) for row in rows)
    newest = sorted(found.values(), key=lambda row: (row.created_at, row.id), reverse=True)
    return newest[: query.limit]
