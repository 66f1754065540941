"""From JSON to a plan, or to an error with every flaw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import msgspec
from msgspec import Raw

from plait.definitions.flaws import InvalidDefinition, Note
from plait.definitions.hashing import content_hash
from plait.dialects.refs.names import label_of

from .draft import DraftStep, read
from .examined import Examined, for_each_ref
from .limits import MAX_BYTES
from .plan import CompensatorPlan, ForEachPlan, Plan, StepPlan
from .rules import flaws, remarks

INVALID = "invalid_definition"
_NOT_HASHED = ("presets",)


@dataclass(frozen=True, slots=True)
class Compiled:
    plan: Plan
    warnings: Sequence[Note]


def compile_refs(definition: object, *, starting: bool = False) -> Compiled:
    """Raises with all flaws. `starting`: a run is to be started with it."""
    text = msgspec.json.encode(definition)
    if len(text) > MAX_BYTES:
        what = f"Workflow has {len(text):,} bytes. The limit is {MAX_BYTES:,}."
        raise InvalidDefinition(INVALID, [Note("", what, "", "too_large")])
    draft = read(definition)
    examined = Examined(draft, starting)
    found = [*draft.notes, *flaws(examined)]
    if found:
        raise InvalidDefinition(INVALID, found)
    return Compiled(_plan(examined, cast("Mapping[str, Any]", definition), Raw(text)), remarks(examined))


def _plan(examined: Examined, definition: Mapping[str, Any], text: Raw) -> Plan:
    source = examined.draft.source
    hashed = {key: value for key, value in definition.items() if key not in _NOT_HASHED and value is not None}
    return Plan(
        steps={step.name: _step(examined, step, place) for place, step in enumerate(examined.draft.steps)},
        mode=source.mode,
        servers=None if source.servers is None else tuple(source.servers),
        start_at=source.start_at_epoch_ms,
        presets=source.presets,
        label=label_of(definition),
        definition=text,
        hash=content_hash(hashed),
        input_schema=examined.input_schema,
    )


def _step(examined: Examined, step: DraftStep, position: int) -> StepPlan:
    source, action = step.source, step.action
    assert action is not None  # otherwise it would have been refused
    ref = for_each_ref(step)
    for_each = source.for_each
    compensator = None
    if source.compensate is not None and step.compensator is not None:
        compensator = CompensatorPlan(step.compensator, source.compensate.input)
    return StepPlan(
        name=step.name,
        position=position,
        action=action,
        input=source.input,
        when=step.when,
        bail=step.bail,
        for_each=None if for_each is None or ref is None else ForEachPlan(ref, for_each.concurrency),
        reads=examined.reads[step.name],
        needs=examined.needs[step.name],
        config=source.config,
        schema=examined.output_schemas.get(step.name),
        compensator=compensator,
    )
