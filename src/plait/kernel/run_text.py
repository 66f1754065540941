"""What a text search looks for in a run; the same in every store, and for lists that are live.

A run mentions a text if its id begins with it, or if its definition's name, its id, a label or its error has it
anywhere, in upper or lower case. Stores keep an index of groups of three characters, so a text of one or two is only
looked for in names of definitions and at the beginning of ids. An id that was generated is not in that index: nobody
looks for the middle of one, and it would be most of what is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .errors import ErrorInfo
from .ids import DEFAULT_NAMESPACE

SHORTEST = 3
"""Characters of a text that is looked for everywhere."""
_LONGEST = 4_000
"""Characters of an id and its labels, and of an error, that can be found."""
_DEEPEST = 8
"""Causes of an error."""
_MOST_GROUPS = 48
_GENERATED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_GENERATED_LENGTH = 36
"""As `Ids.run_id` makes them."""
_GENERATED_BEGINNING = re.compile(r"0[0-9a-f-]*$")
"""Until the year 2527."""


def fold(text: str) -> str:
    """Two texts that differ only in upper and lower case are one; no database keeps a NUL."""
    return text.casefold().replace("\0", " ")


def about(run_id: str, labels: Mapping[str, str]) -> str:
    """What can be found of a run from its first moment; empty for one that has no labels and a generated id."""
    name = run_id.rpartition("/")[2]
    if len(name) >= _GENERATED_LENGTH:
        name = _GENERATED.sub("", name)
    if not labels:
        return fold(name[:_LONGEST])
    words = (word for label in labels.items() for word in label)
    return fold("\n".join((name, *words))[:_LONGEST])


def of_error(error: ErrorInfo) -> str:
    """What can be found of an error: codes, types and messages, its causes' too."""
    return fold("\n".join(_words(error, _DEEPEST))[:_LONGEST])


def _words(error: ErrorInfo, depth: int) -> Iterator[str]:
    yield from (word for word in (error.code, error.type, error.message) if word)
    if depth:
        for cause in (error.cause, *error.parts.values()):
            if cause is not None:
                yield from _words(cause, depth - 1)


def home(namespace: str) -> str:
    """What the keys of all runs of a namespace begin with."""
    return "" if namespace == DEFAULT_NAMESPACE else f"{namespace}/"


def beginnings(namespace: str, text: str) -> set[str]:
    """How the key of a run begins whose id begins with a text, as it was typed or in lower case."""
    return {home(namespace) + start for start in (text, fold(text)) if "\0" not in start}


def may_be_generated(beginning: str) -> bool:
    """Whether an id that begins so may have, or go on with, a part that was generated: `about` leaves that out."""
    return _GENERATED_BEGINNING.search(beginning) is not None or _GENERATED.search(beginning) is not None


def groups(folded: str) -> list[str]:
    """Groups of three characters that the index has of a text. Those side by side leave few runs to look at; the ones
    across them would make an index look up more than they spare."""
    last = len(folded) - SHORTEST
    places = [*range(0, last, SHORTEST), last][:_MOST_GROUPS]
    return list(dict.fromkeys(folded[at : at + SHORTEST] for at in places))
