"""Applies accepted suggestions: references in place of literals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast

from plait.definitions.flaws import parts_of
from plait.dialects.refs.references.template import escaped
from plait.kernel.errors import Flaw

from .suggestions import HIGH, Suggestion

UNKNOWN, OVERLAP = "unknown_suggestion", "suggestions_overlap"


class Accepted(NamedTuple):
    suggestion: Suggestion
    ref: str
    """The reference of the suggestion, or of one of its alternatives."""


def accepted(
    suggestions: Sequence[Suggestion], accept: Sequence[str] | Literal["high"]
) -> tuple[list[Accepted], list[Flaw]]:
    """The suggestions that can be applied together, and the problems of the others."""
    if accept == "high":
        return _high(suggestions), []
    options = {found.id: Accepted(found, found.ref) for found in suggestions}
    options |= {other.id: Accepted(found, other.ref) for found in suggestions for other in found.alternatives}
    chosen: list[Accepted] = []
    flaws: list[Flaw] = []
    for index, id in enumerate(accept):
        pointer, found = f"/options/accept/{index}", options.get(id)
        if found is None:
            flaws.append(Flaw(UNKNOWN, pointer, f'There is no suggestion "{id}". The draft lists those there are.'))
        elif found not in chosen:
            other = next((each for each in chosen if _overlap(each.suggestion, found.suggestion)), None)
            if other is None:
                chosen.append(found)
            else:
                flaws.append(Flaw(OVERLAP, pointer, _overlap_text(found.suggestion, other.suggestion)))
    return chosen, flaws


def _high(suggestions: Iterable[Suggestion]) -> list[Accepted]:
    """The larger of two that overlap: its pointer has fewer parts."""
    chosen: list[Accepted] = []
    found = [each for each in suggestions if each.confidence >= HIGH]
    for each in sorted(found, key=lambda each: each.pointer.count("/")):
        if not any(_overlap(each, other.suggestion) for other in chosen):
            chosen.append(Accepted(each, each.ref))
    return chosen


def _overlap(one: Suggestion, other: Suggestion) -> bool:
    if one.step != other.step:
        return False
    if one.pointer == other.pointer and one.start is not None and other.start is not None:
        return one.start < other.start + len(other.value) and other.start < one.start + len(one.value)
    return f"{one.pointer}/".startswith(f"{other.pointer}/") or f"{other.pointer}/".startswith(f"{one.pointer}/")


def _overlap_text(one: Suggestion, other: Suggestion) -> str:
    place = min(one.pointer, other.pointer, key=len)
    return f'"{one.id}" and "{other.id}" both change {place} of step {one.step}. Accept one of them.'


def applied(inputs: Mapping[str, Any], chosen: Sequence[Accepted]) -> dict[str, Any]:
    """The inputs of steps, by name, with the accepted references in place of literals."""
    found = {**inputs}
    places: dict[tuple[str, str], list[Accepted]] = {}
    for each in chosen:
        places.setdefault((each.suggestion.step, each.suggestion.pointer), []).append(each)
    for (step, pointer), many in places.items():
        if step in found:
            found[step] = _replaced(found[step], parts_of(pointer), many)
    return found


def _replaced(value: Any, path: Sequence[str], many: Sequence[Accepted]) -> Any:
    if not path:
        return many[0].ref if many[0].suggestion.start is None else _filled(value, many)
    if isinstance(value, list):
        items = [*cast("list[Any]", value)]
        items[int(path[0])] = _replaced(items[int(path[0])], path[1:], many)
        return items
    return {**value, path[0]: _replaced(value[path[0]], path[1:], many)}


def _filled(text: str, many: Sequence[Accepted]) -> str:
    """The rest of the text is escaped anew: a reference beside an `@` changes how the `@` is parsed."""
    parts: list[str] = []
    at = 0
    for each in sorted(many, key=lambda each: each.suggestion.start or 0):
        start = each.suggestion.start or 0
        parts += [escaped(text[at:start]), each.ref]
        at = start + len(each.suggestion.value)
    return "".join([*parts, escaped(text[at:])])
