"""How a list of runs is read: by which index, and in what order. The same for every SQL store.

Each index holds places `(created_at, id)` of the runs that have something in common: a status, a definition, a label, a
parent, a text. A list that asks for several things is read from the index that has the fewest places, and the other
conditions are checked on the rows it leads to. Where the index has several parts, one for each status, say, each gives
its newest and they are merged. Nothing is sorted that is larger than `FEW`, except by a store whose index of texts has
no order: there the newest runs are looked at first, so that a text that many runs have is found among those, and the
index is asked for one that few of them have.

`list_steps` only decides. It yields what is to be asked of the database, a `Count`, `Floor`, `Rows`, `Names` or
`Expected`, is sent the answer, and returns the list: so that one store can do it in a thread and another can await it.
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
"""Places that may all be looked at, and sorted."""
_SOME = 20_000
"""As far as is counted where several indexes have more than a few."""
_MANY_NAMES = 50
"""Definitions that a text search looks at one by one."""
_FIRST_LOOK = 500
"""Of the newest runs, for a text."""
_FARTHEST_LOOK = 10_000
"""Runs that are looked at for a text, one by one, before its index is the better way."""
_FARTHEST_OF_ALL = 50_000
"""Where the index would have a large part of all runs to be put in order."""
_LOOK_COSTS = 16
"""As much as so many runs that an index of texts gives in no order."""
_RUNNING = ("working", "waiting", "blocked")
_SHOWN = ("completed", *_RUNNING, "failed", "cancelled")
"""Statuses as the index has them, in the order in which they are read: first the one that most runs have."""
_KEY_COLUMNS = 3
_LAST_CHARACTER = chr(sys.maxunicode)


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the indexes of a store can do."""

    orders_texts: bool
    """The one of texts gives the newest first; else all that it has, in any order."""
    splits_definitions: bool
    """The one of definitions has a part for each status."""


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
    text: TextMatch | None = None


@dataclass(frozen=True, slots=True)
class Floor:
    """The moment of the place this far down in a source, the latest of its parts; None if all are shorter."""

    source: Source
    depth: int
    until: int | None = None
    """Only what is older than this."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The runs of a source that fit the whole filter, newest first, as many as the list is long."""

    source: Source
    text: TextMatch | None
    since: int | None = None
    """None older than this."""
    until: int | None = None
    """Only those that are older than this."""


@dataclass(frozen=True, slots=True)
class Expected:
    """How many runs have a text, at most, as the database's statistics say; None: nobody knows."""

    text: TextMatch


@dataclass(frozen=True, slots=True)
class Names:
    """Pairs of a namespace and a dialect, or a definition, that have runs; of one namespace or (None) of all."""

    of: Literal["dialects", "definitions"]
    namespace: str | None


Step: TypeAlias = Count | Floor | Rows | Names | Expected
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
    """The place that all are older than, and the moment that none is older than."""
    ends = [(moment, "") for moment in (query.until, step and step.until, 2**62) if moment is not None]
    starts = (query.since, step.since if isinstance(step, Rows) else None, -(2**62))
    return min([*ends, query.after] if query.after else ends), max(moment for moment in starts if moment is not None)


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
    asked = _asked(query)
    return (source("of_status", [(*pair, status) for pair in pairs for status in asked]), *_claimed(query, pairs))


def _asked(query: RunFilter) -> list[str]:
    asked = set(_SHOWN if query.statuses is None else query.statuses)
    if "running" in asked:
        asked.update(_RUNNING)
    return [status for status in _SHOWN if status in asked]


def _claimed(query: RunFilter, pairs: list[Pair]) -> Sources:
    """A run that waits for a task is at work while a worker has the task."""
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
    """Any of these has all runs of the list. The first have less, as a rule, than those of all statuses."""
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
            return choice  # those of a status have more
    ordered = any(sources[0].index != "of_prefix" for sources in choice)
    if not ordered or query.statuses is not None or query.dialect is not None:
        choice.append(_by_status(query, pairs))
    return choice


def _rarest(choice: list[Sources]) -> Generator[Step, Any, Sources]:
    """The sources with the fewest places."""
    # Ids that begin alike are in no order of time: more than a few can't be sorted
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
    """What leaves the fewest places of a list, but for its text; still more than a few."""

    sources: Sources
    namespaces: list[str]

    def rows(self, text: TextMatch | None, since: int | None = None, until: int | None = None) -> list[Rows]:
        return [Rows(part, text, since, until) for part in self.sources]


def _ordered_search(query: RunFilter, text: TextMatch, best: Best, can: Abilities) -> Steps:
    """Where the index of texts gives the newest first: only a text that many have is better looked for in the rows."""
    if (yield from _count(best.sources, FEW + 1)) <= FEW:
        return (yield from _merged(query, best.rows(text)))
    asked = yield from _by_text(query, text, best, can)
    if (yield from _count(best.sources, _SOME + 1)) <= _SOME:
        having: int = yield Count(asked[-1].source, FEW + 1, text)
        if having > FEW:
            return (yield from _merged(query, best.rows(text)))
    return (yield from _merged(query, asked))


def _sorted_search(query: RunFilter, text: TextMatch, best: Best, can: Abilities) -> Steps:
    """Where the index of texts gives all it has: a text that many have is found among the newest runs, of which more
    are looked at for as long as those before promise a whole page."""
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
    """Runs that may be looked at before the index is asked: as long as that has cost less than the index would."""
    expected: int | None = yield Expected(text)
    return _FARTHEST_LOOK if expected is None else max(_FARTHEST_LOOK, min(expected // _LOOK_COSTS, _FARTHEST_OF_ALL))


def _none_found(seen: int, farthest: int) -> int:
    """How many to look at, all in all, when none of those had the text: it may be one that only old runs have."""
    return farthest if farthest == _FARTHEST_LOOK or seen * 4 >= farthest else seen * 4


def _floor(sources: Sources, depth: int, until: int | None) -> Generator[Step, Any, int | None]:
    """The latest moment that lies this deep in one of them; None: all are shorter."""
    found: list[int | None] = []
    for part in sources:
        if part.keys:
            found.append((yield Floor(part, depth, until)))
    return max((moment for moment in found if moment is not None), default=None)


def _by_text(query: RunFilter, text: TextMatch, best: Best, can: Abilities) -> Generator[Step, Any, list[Rows]]:
    """Runs that have it in a name; and, last, those that have it in an id, a label or an error."""
    named = yield from _named(query, text, best, can)
    spaces = [(space,) for space in best.namespaces] if text.anywhere else []
    return [*named, Rows(source("of_text", spaces), text)]


def _named(query: RunFilter, text: TextMatch, best: Best, can: Abilities) -> Generator[Step, Any, list[Rows]]:
    """Runs whose definitions' names have it, or whose ids begin with it and are not in the index of texts."""
    only_named = replace(text, anywhere=False)
    spaces = best.namespaces
    starts = [home(space) + start for space in spaces for start in text.starts] if _beyond_texts(text) else []
    beginning = source("of_prefix", [(start, _past(start)) for start in starts])
    begun = yield from _count((beginning,), FEW + 1)
    if begun > FEW or len(text.definitions) > _MANY_NAMES:
        return best.rows(only_named)
    # With those that wait: one whose task a worker has is at work
    statuses = [status for status in _SHOWN if status in {*_asked(query), "waiting"}]
    named = _by_definition(text.definitions, spaces, statuses, can)
    return [Rows(part, only_named) for part in (beginning, named)]


def _beyond_texts(text: TextMatch) -> bool:
    """Whether ids may begin with it that the index of texts does not have."""
    return not text.anywhere or may_be_generated(text.folded)


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


def _merged(query: RunFilter, asked: Iterable[Rows]) -> Steps:
    found: dict[str, RunRow] = {}
    for step in asked:
        if step.source.keys:
            rows: list[RunRow] = yield step
            found.update((row.id, row) for row in rows)
    newest = sorted(found.values(), key=lambda row: (row.created_at, row.id), reverse=True)
    return newest[: query.limit]
