"""Parses a pipeline as written: every flaw is found before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from msgspec import UNSET

from plait.conditions.regex import BadPattern, compiled
from plait.definitions.flaws import Note
from plait.definitions.nearest import did_you_mean
from plait.definitions.shape import ShapeReader

from .dates import UnknownZone, zone
from .errors import InvalidPipeline
from .steps import STEPS, Condition, GroupBy, Join, ParseDate, RegexExtract, Step, TableFilter, TableSelect, names

MOST_STEPS: Final = 50
_CODE: Final = "pipeline.invalid"


def read(pipeline: object, pointer: str = "") -> tuple[Step, ...]:
    """Parses the steps of a pipeline. Raises `InvalidPipeline`, with `pointer` before the place of each flaw."""
    steps, notes = examine(pipeline, pointer)
    if notes:
        raise InvalidPipeline(notes)
    return steps


def examine(pipeline: object, pointer: str = "") -> tuple[tuple[Step, ...], list[Note]]:
    """The steps that can be parsed, and all flaws."""
    if not isinstance(pipeline, list):
        return (), [Note(pointer, "a pipeline must be an array of steps", "", _CODE)]
    written = cast("list[Any]", pipeline)
    if not 1 <= len(written) <= MOST_STEPS:
        return (), [Note(pointer, f"a pipeline has 1 to {MOST_STEPS} steps, this one has {len(written)}", "", _CODE)]
    reader = ShapeReader(_CODE)
    steps = [_step(reader, each, f"{pointer}/{at}", at + 1) for at, each in enumerate(written)]
    return tuple(step for step in steps if step is not None), reader.notes


def _step(reader: ShapeReader, written: Any, at: str, number: int) -> Step | None:
    owner = f"step {number}"
    if not isinstance(written, dict):
        reader.note(at, f"{owner} must be an object with `step` and its parameters")
        return None
    given = cast("dict[str, Any]", written)
    name = given.get("step")
    if not isinstance(name, str) or name not in STEPS:
        known = f"one of {', '.join(STEPS)}"
        fix = did_you_mean(name, STEPS, known) if isinstance(name, str) else f"name {known}"
        reader.note(f"{at}/step", f"{owner}: unknown step `{name}`" if name else f"{owner}: `step` is required", fix)
        return None
    parameters = {key: value for key, value in given.items() if key != "step"}
    step: Step | None = reader.object(STEPS[name], parameters, at, f"{owner} ({name}): ")
    if step is None:
        return None
    step = _with_null(step, parameters)
    for where, what, fix in _flaws(step):
        reader.note(f"{at}/{where}", f"{owner} ({name}): {what}", fix)
    return step


def _with_null(step: Step, parameters: Mapping[str, Any]) -> Step:
    """Null is a value to compare with, but the decoder treats it as absent."""
    if not isinstance(step, TableFilter) or "value" not in parameters["condition"]:
        return step
    condition = step.condition
    return TableFilter(Condition(condition.field, condition.op, parameters["condition"]["value"]))


def _flaws(step: Step) -> Iterator[tuple[str, str, str]]:
    """What types can't express: parameter, flaw, fix."""
    match step:
        case TableFilter(condition=Condition(value=value)) if value is UNSET:
            yield "condition", "condition.value is required", "null is a value, too"
        case TableSelect(fields=[]):
            yield "fields", "fields must name at least one", ""
        case GroupBy():
            yield from _group_flaws(step)
        case Join():
            yield from _join_flaws(step)
        case RegexExtract():
            yield from _regex_flaws(step)
        case ParseDate():
            yield from _date_flaws(step)
        case _:
            return


def _group_flaws(step: GroupBy) -> Iterator[tuple[str, str, str]]:
    if not names(step.by):
        yield "by", "by must name at least one field", ""
    if step.agg == "count" and step.field is not None:
        yield "field", "field does not go with agg `count`", "leave it out, or choose sum, avg, min or max"
    if step.agg != "count" and step.field is None:
        yield "field", f"field is required for agg `{step.agg}`", ""


def _join_flaws(step: Join) -> Iterator[tuple[str, str, str]]:
    if not names(step.on):
        yield "on", "on must name at least one field", ""
    if step.left is None and step.right is None:
        yield "right", "left and right are both absent", "give one: the other is the incoming data"


def _regex_flaws(step: RegexExtract) -> Iterator[tuple[str, str, str]]:
    try:
        compiled(step.pattern)
    except BadPattern as error:
        yield "pattern", f"pattern can't be used: {error}", "look-around and back references are not supported"
    if step.into is not None and step.field is None:
        yield "into", "into needs a field", ""


def _date_flaws(step: ParseDate) -> Iterator[tuple[str, str, str]]:
    try:
        zone(step.tz)
    except UnknownZone:
        yield "tz", f"unknown time zone `{step.tz}`", "use a name such as `Europe/Berlin`"
