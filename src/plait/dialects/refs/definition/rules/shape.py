"""Which parts of a step go together, and the presets of a definition."""

from __future__ import annotations

from collections.abc import Iterator

from plait.definitions.flaws import Note, escape
from plait.definitions.nearest import nearest
from plait.definitions.shape import shown
from plait.dialects.refs.definition.action import COMPENSATORS
from plait.dialects.refs.definition.examined import Examined, listed
from plait.dialects.refs.definition.limits import MAX_CONCURRENCY
from plait.dialects.refs.references.heads import INDEX, ITEM
from plait.dialects.refs.references.template import parse


def inputs(examined: Examined) -> Iterator[Note]:
    """An input is an object, or one reference to an object."""
    for step in examined.draft.steps:
        places = [("/input", step.source.input)]
        if step.source.compensate is not None:
            places.append(("/compensate/input", step.source.compensate.input))
        for place, value in places:
            if not (isinstance(value, dict) or (isinstance(value, str) and parse(value).whole is not None)):
                what = f'Step "{step.name}": `input` must be an object or one whole reference, got {shown(value)}.'
                yield Note(step.pointer + place, what, "", "bad_shape")
        if step.compensator is not None and step.compensator.kind not in COMPENSATORS:
            what = f'Step "{step.name}": `compensate` takes a tool, code or function, not `{step.compensator.kind}`.'
            yield Note(f"{step.pointer}/compensate/action", what, "", "bad_action")
        if step.bail is False:
            yield Note(
                f"{step.pointer}/bail", f'Step "{step.name}": `bail` is true or a condition.', "", "bad_condition"
            )


def returns(examined: Examined) -> Iterator[Note]:
    for step in examined.draft.steps:
        if step.action is None or step.action.kind != "return":
            continue
        source = step.source
        given = {"forEach": source.for_each, "bail": source.bail, "compensate": source.compensate}
        for field, value in given.items():
            if value is not None:
                what = f'Step "{step.name}": `return` can\'t have `{field}`. Remove it.'
                yield Note(f"{step.pointer}/{field}", what, "", "bad_return")


def foreach(examined: Examined) -> Iterator[Note]:
    for step in examined.draft.steps:
        written = step.source.for_each
        if written is None:
            continue
        count, at = written.concurrency, f"{step.pointer}/forEach"
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MAX_CONCURRENCY:
            what = f'Step "{step.name}": `concurrency` is 1 to {MAX_CONCURRENCY}, got {shown(count)}.'
            yield Note(f"{at}/concurrency", what, "", "bad_foreach")
        ref = parse(written.ref).whole
        if ref is None:
            what = f'Step "{step.name}": `forEach.ref` must be one whole reference, got {shown(written.ref)}.'
            yield Note(f"{at}/ref", what, "", "bad_foreach")
        elif ref.head in (ITEM, INDEX):
            what = f'Step "{step.name}": "{ref.text}" is what `forEach` gives; it can\'t be what it goes through.'
            yield Note(f"{at}/ref", what, "", "bad_foreach")


def presets(examined: Examined) -> Iterator[Note]:
    source = examined.draft.source
    if source.mode == "recording" or source.use is not None:
        return  # the steps are not known yet
    for name in source.presets:
        if name not in examined.steps:
            meant = nearest(name, examined.names)
            fix = f'Did you mean "{meant}"?' if meant is not None else f"Known: {listed(examined.names)}."
            yield Note(f"/presets/{escape(name)}", f'Preset "{name:.80}" names no step. {fix}', "", "bad_preset")
