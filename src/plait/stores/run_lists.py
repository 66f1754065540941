"""The plan for reading a list of runs: by which index, and in what order. The same for every SQL store.

Each index holds places `(created_at, id)` of the runs that have something in common: a status, a definition, a label, a
parent, a text. A list with several conditions is read from the index with the fewest places, and the other conditions
are checked on the rows it leads to. If the index has several parts, one for each status, say, each returns its newest
and they are merged. Nothing larger than `FEW` is sorted, except by a store whose text index has no order: there the
newest runs are checked first, so that a common text is found among those, and the index is used for a rare one.

`list_steps` only decides. It yields queries for the database, a `Count`, `Floor`, `Rows`, `Names` or `Expected`, is
sent the answer, and returns the list: so one store can run it in a thread and another can await it.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.kernel.run_text import SHORTEST, beginnings, fold, home, may_be_generated
from plait.kernel.store import RunFilter, RunRow

Index = Literal[
    "of_status",
    "of_claimed",
    "of_definition",
    "of_label",
    "of_parent",
    "of_prefix",
    "of_text",
]
Key: TypeAlias = tuple[str, ...]

FEW = 2_000
"""Most places that may all be read and sorted."""
_SOME = 20_000
"""Limit of counting if several indexes have more than a few."""
_MANY_NAMES = 50
"""Most definitions that a text search handles one by one."""
_FIRST_LOOK = 500
"""Newest runs checked first for a text."""
_FARTHEST_LOOK = 10_000
"""Runs checked for a text, one by one, before its index is the better way."""
_FARTHEST_OF_ALL = 50_000
"""The same, if the index would return a large part of all runs to be sorted."""
_LOOK_COSTS = 16
"""Texts returned by an unordered index that cost as much as checking one run."""
_RUNNING = ("working", "waiting", "blocked")
_SHOWN = ("completed", *_RUNNING, "failed", "cancelled")
"""Statuses as stored in the index, in the order in which they are read: the most common first."""
_KEY_COLUMNS = 3
_LAST_CHARACTER = chr(sys.maxunicode)


@dataclass(frozen=True, slots=True)
class Abilities:
    """Abilities of a store's indexes."""

    orders_texts: bool
    """The text index returns the newest first; otherwise all matches, in any order."""
    splits_definitions: bool
    """The definition index has a part for each status."""


@dataclass(frozen=True, slots=True)
class Source:
    """Parts of an index to read; keys are padded to the same length."""

    index: Index
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Count:
    """Counts the places of a source within the list's bounds; at most `most` in each part."""

    source: Source
    most: int
    text: TextMatch | None = None


@dataclass(frozen=True, slots=True)
class Floor:
    """The time of the place at this depth in a source, the latest of its parts; None if all are shorter."""

    source: Source
    depth: int
    until: int | None = None
    """Only places older than this."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The runs of a source that match the whole filter, newest first, up to the length of the list."""

    source: Source
    text: TextMatch | None
    since: int | None = None
    """Lower bound of the creation time."""
    until: int | None = None
    """Only runs older than this."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Upper bound of the number of runs with a text, by the database's statistics; None: unknown."""

    text: TextMatch


@dataclass(frozen=True, slots=True)
class Names:
    """Pairs (namespace, dialect) or (namespace, definition) that have runs; of one namespace or (None) of all."""

    of: Literal["dialects", "definitions"]
    namespace: str | None


Step: TypeAlias = Count | Floor | Rows | Names | Expected
Steps: TypeAlias = Generator[Step, Any, list[RunRow]]


@dataclass(frozen=True, slots=True)
class TextMatch:
    """The criteria of a text search, as a store can check them on a row."""

    folded: str
    starts: tuple[str, ...]
    """Prefixes of matching ids."""
    definitions: tuple[str, ...]
    """Definitions whose names match."""
    anywhere: bool
    """Also search labels, ids and errors."""


def list_steps(query: RunFilter, can: Abilities) -> Steps:
    if query.statuses == [] or query.limit <= 0:
        return []
    pairs = yield from _dialects(query)
    text = yield from _text_match(query)
    if query.text and text is None:
        return []
    choice = _choice(query, pairs, can)
    best = Best(choice[0] if len(choice) == 1 else (yield from _rarest(choice)), _namespaces(pairs))
    if text is None:
        return (yield from _merged(query, best.rows(None)))
    search = _ordered_search if can.orders_texts else _sorted_search
    return (yield from search(query, text, best, can))


def bounds(query: RunFilter, step: Floor | Rows | None = None) -> tuple[tuple[int, str], int]:
    """The place that all are older than, and the earliest time."""
    ends = [(moment, "") for moment in (query.until, step and step.until, 2**62) if moment is not None]
    starts = (query.since, step.since if isinstance(step, Rows) else None, -(2**62))
    return min([*ends, query.after] if query.after else ends), max(moment for moment in starts if moment is not None)


# -- which index -------------------------------------------------------------------------------------------------------

Sources: TypeAlias = tuple[Source, ...]
Pair: TypeAlias = tuple[str, str]
"""A namespace with one of its dialects or definitions."""


def source(index: Index, keys: Iterable[Key]) -> Source:
    return Source(index, tuple((*key, *[""] * (_KEY_COLUMNS - len(key))) for key in keys))


def _dialects(query: RunFilter) -> Generator[Step, Any, list[Pair]]:
    """Namespaces and dialects that runs of the list may have."""
    if query.namespace is not None and query.dialect is not None:
        return [(query.namespace, query.dialect)]
    pairs: list[Pair] = yield Names("dialects", query.namespace)
    return [pair for pair in pairs if query.dialect in (None, pair[1])]


def _by_status(query: RunFilter, pairs: list[Pair]) -> Sources:
    """The sources of all runs with the requested statuses."""
    asked = _asked(query)
    return (source("of_status", [(*pair, status) for pair in pairs for status in asked]), *_claimed(query, pairs))


def _asked(query: RunFilter) -> list[str]:
    asked = set(_SHOWN if query.statuses is None else query.statuses)
    if "running" in asked:
        asked.update(_RUNNING)
    return [status for status in _SHOWN if status in asked]


def _claimed(query: RunFilter, pairs: list[Pair]) -> Sources:
    """The source of runs that wait for a claimed task: they count as working."""
    asked = _asked(query)
    if "working" in asked and "waiting" not in asked:
        return (source("of_claimed", [(space,) for space in _namespaces(pairs)]),)
    return ()


def _by_definition(names: Iterable[str], spaces: list[str], statuses: list[str], can: Abilities) -> Source:
    pairs = [(space, name) for space in spaces for name in names]
    if can.splits_definitions:
        return source("of_definition", [(*pair, status) for pair in pairs for status in statuses])
    return source("of_definition", pairs)


def _choice(query: RunFilter, pairs: list[Pair], can: Abilities) -> list[Sources]:
    """Alternatives, each with all runs of the list. The first usually have fewer than those of all statuses."""
    found: list[Source] = []
    spaces = _namespaces(pairs)
    if query.parent is not None:
        found.append(source("of_parent", [(query.parent,)]))
    for label in (query.labels or {}).items():
        found.append(source("of_label", [(space, *label) for space in spaces]))
    if query.id_prefix:
        found.append(source("of_prefix", [(query.id_prefix, _past(query.id_prefix))]))
    choice: list[Sources] = [(part,) for part in found]
    if query.definition is not None:
        named = _by_definition([query.definition], spaces, _asked(query), can)
        choice.append((named, *_claimed(query, pairs)) if can.splits_definitions else (named,))
        if can.splits_definitions:
            return choice  # those by status have more
    ordered = any(sources[0].index != "of_prefix" for sources in choice)
    if not ordered or query.statuses is not None or query.dialect is not None:
        choice.append(_by_status(query, pairs))
    return choice


def _rarest(choice: list[Sources]) -> Generator[Step, Any, Sources]:
    """The sources with the fewest places."""
    # Ids with a common prefix are not ordered by time: more than a few can't be sorted
    ordered = [sources for sources in choice if sources[0].index != "of_prefix"]
    for most, candidates in ((FEW, choice), (_SOME, ordered)):
        counted: list[int] = []
        for sources in candidates:
            counted.append((yield from _count(sources, most + 1)))
        fewest = min(counted)
        if fewest <= most:
            return candidates[counted.index(fewest)]
    return ordered[0]


# -- texts -------------------------------------------------------------------------------------------------------------


def _text_match(query: RunFilter) -> Generator[Step, Any, TextMatch | None]:
    if not query.text or not _is_storable(query.text):
        return None
    folded = fold(query.text)
    pairs: list[Pair] = yield Names("definitions", query.namespace)
    names = dict.fromkeys(name for _, name in pairs if folded in fold(name))
    starts = sorted(beginnings(DEFAULT_NAMESPACE, query.text))
    return TextMatch(folded, tuple(starts), tuple(names), len(folded) >= SHORTEST)


@dataclass(frozen=True, slots=True)
class Best:
    """The sources with the fewest places apart from the text; still more than a few."""

    sources: Sources
    namespaces: list[str]

    def rows(self, text: TextMatch | None, since: int | None = None, until: int | None = None) -> list[Rows]:
        return [Rows(part, text, since, until) for part in self.sources]


def _ordered_search(query: RunFilter, text: TextMatch, best: Best, can: Abilities) -> Steps:
    """The search if the text index returns the newest first: only a common text is better searched in the rows."""
    if (yield from _count(best.sources, FEW + 1)) <= FEW:
        return (yield from _merged(query, best.rows(text)))
    asked = yield from _by_text(query, text, best, can)
    if (yield from _count(best.sources, _SOME + 1)) <= _SOME:
        having: int = yield Count(asked[-1].source, FEW + 1, text)
        if having > FEW:
            return (yield from _merged(query, best.rows(text)))
    return (yield from _merged(query, asked))


def _sorted_search(query: RunFilter, text: TextMatch, best: Best, can: Abilities) -> Steps:
    """The search if the text index is unordered: a common text is found among the newest runs, of which more are
    checked while the results promise a whole page."""
    found: list[RunRow] = []
    seen, look, until = 0, _FIRST_LOOK, None
    farthest = yield from _farthest(text)
    while True:
        since = yield from _floor(best.sources, look, until)
        found += yield from _merged(query, best.rows(text, since, until))
        if since is None or len(found) >= query.limit:
            return found[: query.limit]
        seen += look
        needed = seen * query.limit // len(found) if found else _none_found(seen, farthest)
        if needed >= farthest:
            return (yield from _merged(query, (yield from _by_text(query, text, best, can))))
        look, until = max(_FIRST_LOOK, needed - seen), since


def _farthest(text: TextMatch) -> Generator[Step, Any, int]:
    """Most runs to check before the index is used: while that costs less than the index would."""
    expected: int | None = yield Expected(text)
    return _FARTHEST_LOOK if expected is None else max(_FARTHEST_LOOK, min(expected // _LOOK_COSTS, _FARTHEST_OF_ALL))


def _none_found(seen: int, farthest: int) -> int:
    """How many runs to check in total if none had the text so far: it may be one that only old runs have."""
    return farthest if farthest == _FARTHEST_LOOK or seen * 4 >= farthest else seen * 4


def _floor(sources: Sources, depth: int, until: int | None) -> Generator[Step, Any, int | None]:
    """The latest time at this depth in one of the sources; None: all are shorter."""
    found: list[int | None] = []
    for part in sources:
        if part.keys:
            found.append((yield Floor(part, depth, until)))
    return max((moment for moment in found if moment is not None), default=None)


def _by_text(query: RunFilter, text: TextMatch, best: Best, can: Abilities) -> Generator[Step, Any, list[Rows]]:
    """Runs with the text in a name; and, last, those with it in an id, a label or an error."""
    named = yield from _named(query, text, best, can)
    spaces = [(space,) for space in best.namespaces] if text.anywhere else []
    return [*named, Rows(source("of_text", spaces), text)]


def _named(query: RunFilter, text: TextMatch, best: Best, can: Abilities) -> Generator[Step, Any, list[Rows]]:
    """Runs whose definitions' names contain it, or whose ids start with it and are not in the text index."""
    only_named = replace(text, anywhere=False)
    spaces = best.namespaces
    starts = [home(space) + start for space in spaces for start in text.starts] if _beyond_texts(text) else []
    beginning = source("of_prefix", [(start, _past(start)) for start in starts])
    begun = yield from _count((beginning,), FEW + 1)
    if begun > FEW or len(text.definitions) > _MANY_NAMES:
        return best.rows(only_named)
    # With waiting runs: one with a claimed task counts as working
    statuses = [status for status in _SHOWN if status in {*_asked(query), "waiting"}]
    named = _by_definition(text.definitions, spaces, statuses, can)
    return [Rows(part, only_named) for part in (beginning, named)]


def _beyond_texts(text: TextMatch) -> bool:
    """Whether ids may start with it that are missing from the text index."""
    return not text.anywhere or may_be_generated(text.folded)


def _namespaces(pairs: list[Pair]) -> list[str]:
    return list(dict.fromkeys(space for space, _ in pairs))


def _past(beginning: str) -> str:
    """A bound after everything with this prefix."""
    return beginning + _LAST_CHARACTER


def _is_storable(text: str) -> bool:
    """Whether a database can store the text: lone surrogates it can't."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


# -- together ----------------------------------------------------------------------------------------------------------


def _count(sources: Sources, most: int) -> Generator[Step, Any, int]:
    places = 0
    for part in sources:
        if part.keys:
            places += yield Count(part, most)
    return places


def _merged(query: RunFilter, asked: Iterable[Rows]) -> Steps:
    found: dict[str, RunRow] = {}
    for step in asked:
        if step.source.keys:
            rows: list[RunRow] = yield step
            found.update((row.id, row) for row in rows)
    newest = sorted(found.values(), key=lambda row: (row.created_at, row.id), reverse=True)
    return newest[: query.limit]
