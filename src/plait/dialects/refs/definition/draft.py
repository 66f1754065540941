"""A definition as far as it can be parsed: each step by itself, with flaws noted rather than raised."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from plait.definitions.flaws import MOST, Note
from plait.definitions.shape import ShapeReader, shown

from .action import Action, read_action
from .condition import Condition, read_condition
from .limits import MAX_RECORDED_STEPS
from .source import Source, Step

BAD_SHAPE = "bad_shape"
_OTHER_WORDS = {"depends": "dependsOn", "needs": "dependsOn", "if": "when", "condition": "when", "retry": "config"}


@dataclass(frozen=True, slots=True)
class DraftStep:
    """A step that could be parsed, and its place in the definition."""

    source: Step
    pointer: str
    action: Action | None
    when: Condition | None = None
    bail: Condition | bool | None = None
    compensator: Action | None = None

    @property
    def name(self) -> str:
        return self.source.name


@dataclass(frozen=True, slots=True)
class Draft:
    source: Source
    """The definition without the steps."""
    steps: Sequence[DraftStep]
    written_steps: int
    """The number of steps, parsable or not."""
    notes: Sequence[Note]


def read(definition: object) -> Draft:
    """Total: any input yields a draft. What exceeds the limits is not parsed."""
    reader = ShapeReader(BAD_SHAPE, _OTHER_WORDS)
    data: Mapping[str, Any] = cast("dict[str, Any]", definition) if isinstance(definition, dict) else {}
    if not isinstance(definition, dict):
        reader.note("", f"a workflow must be an object, got {shown(definition)}")
    written: Any = data.get("steps")
    if written is not None and not isinstance(written, list):
        reader.note("/steps", f"`steps` must be an array, got {shown(written)}")
    items: list[Any] = cast("list[Any]", written) if isinstance(written, list) else []
    notes: list[Note] = []
    steps: list[DraftStep] = []
    for index, each in enumerate(items[:MAX_RECORDED_STEPS]):
        if reader.full or len(notes) >= MOST:
            break
        if (found := _step(each, index, reader, notes)) is not None:
            steps.append(found)
    rest = {key: value for key, value in data.items() if key != "steps"}
    source = reader.object(Source, rest, "", "") or Source()
    return Draft(
        msgspec.structs.replace(source, steps=[each.source for each in steps]),
        steps,
        len(items),
        [*reader.notes, *notes],
    )


def _step(written: Any, index: int, reader: ShapeReader, notes: list[Note]) -> DraftStep | None:
    pointer = f"/steps/{index}"
    if not isinstance(written, dict):
        reader.note(pointer, f"step {index} must be an object, got {shown(written)}")
        return None
    data = cast("dict[str, Any]", written)
    name = data.get("name")
    owner = f'Step "{name}": ' if isinstance(name, str) and len(name) <= 64 else f"Step {index}: "
    step = reader.object(Step, data, pointer, owner)
    if step is None:
        return None

    def noting(code: str, place: str) -> Callable[[str, str], None]:
        return lambda where, what: notes.append(Note(f"{pointer}{place}{where}", f"{owner}{what}", "", code))

    found: Step = step
    action = read_action(found.action, noting("bad_action", "/action"))
    when = None if found.when is None else read_condition(found.when, noting("bad_condition", "/when"))
    bail: Condition | bool | None = found.bail if isinstance(found.bail, bool) else None
    if isinstance(found.bail, dict):
        bail = read_condition(found.bail, noting("bad_condition", "/bail"))
    compensator = None
    if found.compensate is not None:
        compensator = read_action(found.compensate.action, noting("bad_action", "/compensate/action"))
    return DraftStep(found, pointer, action, when, bail, compensator)
