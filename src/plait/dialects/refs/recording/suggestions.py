"""Literals that were probably copied from somewhere: each with the reference that could replace it.

A caller who writes `42` instead of `@get_user_1.id` has recorded a workflow for one user. The suggestions generalize
it to all users; none is applied unless someone accepts it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal, cast

import msgspec

from plait.conditions.paths import MISSING
from plait.definitions.flaws import escape

from .input_names import InputNames
from .literals import literal
from .name_affinity import is_named_after, name_of
from .recorded import RecordedStep, Recording
from .reference_text import written
from .secret_names import looks_secret
from .sources import Place, Sources, has_meaning

HIGH: Final = 80
MEDIUM: Final = 50
_HIGHEST: Final = 99
_PROMOTION: Final = 20
_WITHIN: Final = 50
_AFFINITY: Final = 25
_AMBIGUITY: Final = -10
_LONG_TEXT: Final = 8
_LARGE_NUMBER: Final = 10
_ALTERNATIVES: Final = 5

Kind = Literal["match", "text", "input", "secret"]
"""match: equal to a value that was seen. text: contains one. input: could be a parameter. secret: should be one."""


class Alternative(msgspec.Struct, frozen=True, gc=False):
    id: str
    ref: str
    kind: Kind
    confidence: int
    why: str


class Suggestion(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    id: str
    step: str
    pointer: str
    """The place in the step's input."""
    value: Any
    """The literal; null for a secret."""
    ref: str
    kind: Kind
    confidence: int
    """Percent."""
    why: str
    alternatives: tuple[Alternative, ...]
    start: int | None = None
    """The offset of the value in its text, if it is a part of one."""


class _Site(msgspec.Struct, frozen=True, gc=False):
    """A place in a recorded input, and the value that a reference could replace."""

    step: RecordedStep
    path: tuple[str, ...]
    value: Any
    start: int | None = None

    @property
    def pointer(self) -> str:
        return "".join(f"/{escape(part)}" for part in self.path)

    @property
    def name(self) -> str:
        return name_of(self.path)

    def option(self, ref: str, kind: Kind, confidence: int, why: str) -> Alternative:
        known = f"{self.step.name}\0{self.pointer}\0{self.start}\0{ref}"
        id = hashlib.blake2b(known.encode(), digest_size=4).hexdigest()
        return Alternative(id, ref, kind, min(confidence, _HIGHEST), why)

    def suggestion(self, options: Sequence[Alternative]) -> Suggestion:
        best, *others = options
        return Suggestion(
            id=best.id,
            step=self.step.name,
            pointer=self.pointer,
            value=None if best.kind == "secret" else self.value,
            ref=best.ref,
            kind=best.kind,
            confidence=best.confidence,
            why=best.why,
            alternatives=tuple(others[:_ALTERNATIVES]),
            start=self.start,
        )


class Suggestions:
    """The suggestions for one recording. `left_out` are steps that can't be sources, because they were excluded."""

    def __init__(self, recording: Recording, left_out: Iterable[str] = ()) -> None:
        self._recording = recording
        self.input_names = InputNames(recording)
        self._sources = Sources()
        self._sources.add("input", recording.input)
        without = frozenset(left_out)
        for step in recording.steps:
            if step.succeeded and step.name not in without:
                self._sources.add(step.name, step.output, step.tool, step.ended)

    def all(self) -> list[Suggestion]:
        return [found for step in self._recording.steps if step.tool for found in self._below(step, (), step.input)]

    def _below(self, step: RecordedStep, path: tuple[str, ...], stored: Any) -> Iterator[Suggestion]:
        """Suggestions for the parts of an object or a list. The whole input of a step is never replaced."""
        items: Iterable[tuple[str, Any]] = ()
        if isinstance(stored, dict):
            items = cast("dict[str, Any]", stored).items()
        elif isinstance(stored, list):
            items = ((str(index), each) for index, each in enumerate(cast("list[Any]", stored)))
        for key, each in items:
            yield from self._at(step, (*path, key), each)

    def _at(self, step: RecordedStep, path: tuple[str, ...], stored: Any) -> Iterator[Suggestion]:
        site = _Site(step, path, literal(stored))
        if site.value is MISSING:
            yield from self._below(step, path, stored)
            return
        secret = _is_secret(site)
        if secret:
            yield self._secret(site)
        if not has_meaning(site.value):
            return
        places = self._sources.same(site.value, step.began)
        if places:
            yield self._match(site, places)
            yield from (each for each in self._below(step, path, stored) if each.kind == "secret")
        elif isinstance(site.value, dict | list):
            yield from self._compound(site, stored)
        elif not secret:
            yield from self._unmatched(site, stored)

    # -- one place -----------------------------------------------------------------------------------------------

    def _match(self, site: _Site, places: Sequence[Place]) -> Suggestion:
        base = _confidence(site.value) + (_AMBIGUITY if len(places) > 1 else 0)
        named = sorted(places, key=lambda place: not is_named_after(site.path, place))  # stable: the latest stay first
        options = [_option(site, place, "match", base) for place in named]
        return site.suggestion([*options[: _ALTERNATIVES - 1], self._promotion(site)])

    def _unmatched(self, site: _Site, stored: Any) -> Iterator[Suggestion]:
        text = site.value if isinstance(site.value, str) and site.value == stored else ""
        within = [
            found for found in self._sources.within(text, site.step.began) if text[found[0] - 1 : found[0]] != "@"
        ]
        for start, value, places in within:
            part = _Site(site.step, site.path, value, start)
            base = _WITHIN + (_AMBIGUITY if len(places) > 1 else 0)
            named = sorted(places, key=lambda place: not is_named_after(site.path, place))
            yield part.suggestion([_option(part, place, "text", base) for place in named])
        if not within:
            yield site.suggestion([self._promotion(site)])

    def _compound(self, site: _Site, stored: Any) -> Iterator[Suggestion]:
        """A list of plain values becomes one parameter, rather than several with the same name."""
        whole = site.suggestion([self._promotion(site)]) if _is_plain_list(site.value) else None
        below = list(self._below(site.step, site.path, stored))
        if whole is not None and all(each.kind == "input" for each in below):
            yield whole
        else:
            yield from below

    def _secret(self, site: _Site) -> Suggestion:
        ref = written("input", (self.input_names.of(site.name, site.value),))
        return site.suggestion([site.option(ref, "secret", _PROMOTION, f"`{site.name}` looks like a secret")])

    def _promotion(self, site: _Site) -> Alternative:
        ref = written("input", (self.input_names.of(site.name, site.value),))
        return site.option(ref, "input", _PROMOTION, "it could be a parameter")


def _option(site: _Site, place: Place, kind: Kind, base: int) -> Alternative:
    named = is_named_after(site.path, place)
    source = "the input" if place.head == "input" else place.head
    why = f"{'part of it is' if kind == 'text' else 'equal to'} a value of {source}" + (
        ", named alike" if named else ""
    )
    ref = written(place.head, place.path, braced=kind == "text")
    return site.option(ref, kind, base + (_AFFINITY if named else 0), why)


def _confidence(value: Any) -> int:
    match value:
        case str():
            return 85 if len(value) >= _LONG_TEXT else 60
        case int() | float():
            return 65 if abs(value) >= _LARGE_NUMBER or value != int(value) else 30
        case _:
            return 90


def _is_secret(site: _Site) -> bool:
    return looks_secret(site.name) and not isinstance(site.value, bool) and site.value not in (None, "", [], {})


def _is_plain_list(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(each, dict | list) for each in cast("list[object]", value))
