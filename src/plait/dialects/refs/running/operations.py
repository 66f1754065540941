"""Patches of a run's steps: `add_step`, `replace_step`, `remove_step`, `set_preset`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from plait.definitions.nearest import nearest
from plait.definitions.shape import shown
from plait.kernel.errors import Flaw, InvalidInput

_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "add_step": ("step",),
    "replace_step": ("name", "step"),
    "remove_step": ("name",),
    "set_preset": ("name", "output"),
}
_MAY: Final = {"add_step": ("before",)}
MAX_OPERATIONS: Final = 500


def applied(definition: dict[str, Any], operations: object) -> dict[str, Any]:
    """Applies all operations, or raises; `definition` itself is not changed."""
    if not isinstance(operations, list) or not operations:
        raise _bad("", "a patch is an array of operations", 'use [{"op": "add_step", "step": {...}}]')
    many = cast("list[Any]", operations)
    if len(many) > MAX_OPERATIONS:
        raise _bad("", f"a patch has {len(many):,} operations", f"use at most {MAX_OPERATIONS}")
    found = dict(definition)
    found["steps"] = list(found.get("steps") or [])
    found["presets"] = dict(found.get("presets") or {})
    for index, operation in enumerate(many):
        _apply(found, _checked(operation, index), index)
    if not found["presets"]:
        del found["presets"]
    return found


def touched(operations: Sequence[Mapping[str, Any]]) -> list[str]:
    """Steps that restart or are removed."""
    return [str(each["name"]) for each in operations if each["op"] != "add_step"]


def _checked(operation: Any, index: int) -> dict[str, Any]:
    if not isinstance(operation, dict):
        raise _bad(f"/{index}", f"operation {index} is {shown(operation)}", "use an object")
    fields = cast("dict[str, Any]", operation)
    op = fields.get("op")
    if op not in _FIELDS:
        meant = nearest(str(op), _FIELDS, close=0)
        raise _bad(f"/{index}/op", f"operation {index} is {shown(op)}", f"did you mean `{meant}`?")
    for field in _FIELDS[op]:
        if field not in fields:
            raise _bad(f"/{index}", f"operation {index}, `{op}`, has no `{field}`", "add it")
    for field in fields:
        if field not in ("op", *_FIELDS[op], *_MAY.get(op, ())):
            raise _bad(f"/{index}/{field}", f"operation {index}, `{op}`, has an unknown field `{field}`", "remove it")
    return fields


def _apply(definition: dict[str, Any], operation: dict[str, Any], index: int) -> None:
    steps: list[Any] = definition["steps"]
    op = operation["op"]
    if op == "add_step":
        before = operation.get("before")
        steps.insert(len(steps) if before is None else _place(steps, before, index), operation["step"])
    elif op == "set_preset":
        _place(steps, operation["name"], index)
        definition["presets"][operation["name"]] = operation["output"]
    else:
        place = _place(steps, operation["name"], index)
        definition["presets"].pop(operation["name"], None)
        steps[place : place + 1] = [operation["step"]] if op == "replace_step" else []


def _place(steps: list[Any], name: Any, index: int) -> int:
    names = [cast("dict[str, Any]", step).get("name") if isinstance(step, dict) else None for step in steps]
    if name not in names:
        known = [each for each in names if isinstance(each, str)]
        meant = nearest(str(name), known)
        fix = f"did you mean `{meant}`?" if meant is not None else "name a step of the run"
        raise _bad(f"/{index}/name", f"operation {index} names {shown(name)}, no such step", fix)
    return names.index(name)


def _bad(pointer: str, what: str, fix: str) -> InvalidInput:
    code = "bad_patch"
    return InvalidInput(code, what, fix=fix, flaws=[Flaw(code, pointer, f"{what}; {fix}")])
