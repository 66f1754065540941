"""A definition under validation, as the rules see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from plait.definitions.flaws import Note
from plait.dialects.refs.references.heads import RESERVED
from plait.dialects.refs.references.template import Ref, parse

from .draft import Draft, DraftStep
from .plan import reads_of
from .schemas import BadSchema, Schema, read_schema

Notes = Iterable[Note]
_SHOWN = 12


@dataclass(frozen=True)
class Examined:
    draft: Draft
    starting: bool
    """Whether a run is to be started with it, which requires steps."""

    @cached_property
    def steps(self) -> Mapping[str, DraftStep]:
        """Steps by name; of several with the same name, the first."""
        found: dict[str, DraftStep] = {}
        for step in self.draft.steps:
            found.setdefault(step.name, step)
        return found

    @cached_property
    def known(self) -> frozenset[str]:
        """The heads that references may have."""
        return RESERVED | self.steps.keys()

    @cached_property
    def needs(self) -> Mapping[str, frozenset[str]]:
        """By step, the steps that must be settled before it."""
        return {
            name: (self.reads[name] | set(step.source.depends_on)) & self.steps.keys()
            for name, step in self.steps.items()
        }

    @cached_property
    def reads(self) -> Mapping[str, frozenset[str]]:
        """By step, the steps that it references."""
        return {
            name: frozenset(
                reads_of(name, step.source.input, step.when, step.bail, for_each_ref(step)) & self.steps.keys()
            )
            for name, step in self.steps.items()
        }

    def before(self, name: str) -> set[str]:
        """All steps that must be settled before a step."""
        found: set[str] = set()
        todo = [name]
        while todo:
            for need in self.needs.get(todo.pop(), ()):
                if need not in found:
                    found.add(need)
                    todo.append(need)
        return found

    @cached_property
    def input_schema(self) -> Schema | None:
        """None if there is none, or it is invalid."""
        return _readable(self.draft.source.input_schema)

    @cached_property
    def output_schemas(self) -> Mapping[str, Schema]:
        found = {name: _readable(step.source.output_schema) for name, step in self.steps.items()}
        return {name: schema for name, schema in found.items() if schema is not None}

    @property
    def names(self) -> Sequence[str]:
        return list(self.steps)


def for_each_ref(step: DraftStep) -> Ref | None:
    written = step.source.for_each
    return None if written is None else parse(written.ref).whole


def listed(names: Sequence[str]) -> str:
    """A list for a message, cut to stay short."""
    more = f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more or "none"


def _readable(written: object) -> Schema | None:
    if written is None:
        return None
    try:
        return read_schema(written)
    except BadSchema:
        return None
