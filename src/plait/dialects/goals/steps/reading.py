"""Parses steps: defaults filled, aliases resolved, attributes nested, every flaw named.

`read_step` is the one entry for steps, from Python, HTTP, CLI and the compatible mount. That mount reads with
`strict=False`: an unknown field, as a newer client may send, is dropped there and refused everywhere else.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from plait.definitions.cursor import Cursor
from plait.definitions.flaws import Note
from plait.dialects.goals import limits
from plait.dialects.goals.errors import OverLimit, StepInvalid
from plait.kernel import values

from .attribute import Attribute, Mapping, attribute
from .read_attribute import read_attribute
from .read_config import CONFIG_OF, CONFIGS, FIELDS, read_predicate, read_work
from .step import RULE, Step, StepId, StepType, is_id

_PARAM = re.compile(r"\{([^{}]*)\}")
_SHOWN = 40
"""Characters shown of an id that is too long."""

TYPES: tuple[StepType, ...] = typing.get_args(StepType)

_KNOWN = ("id", "name", "type", "attributes", "memoizable", "labels", *FIELDS)


def read_step(data: Any, *, strict: bool = True) -> Step:
    """Returns the step; raises `StepInvalid` with all its flaws, or `OverLimit`."""
    if not isinstance(data, dict):
        raise StepInvalid("", [Note("", "a step is an object", "send one with 'id', 'name' and 'type'")])
    sent = cast("dict[str, Any]", data)
    values.encode(sent)  # refuses what the stores can't hold before any other check
    check_sizes(sent)
    cursor = Cursor(sent)
    step = _read(cursor, strict)
    if not cursor.notes:
        check_rules(step, cursor)
    if cursor.notes:
        raise StepInvalid(step.id, cursor.notes)
    return step


def _read(cursor: Cursor, strict: bool) -> Step:
    if strict:
        _check_known(cursor)
    identifier = _id(cursor)
    name = cursor.text("name", required=True)
    cursor.text("type", required=True)
    kind = cursor.choice("type", TYPES)
    work = cursor.child("work_config") or Cursor({}, cursor.at("work_config"), cursor.notes)
    predicate = cursor.child("predicate")
    return Step(
        id=identifier,
        name=name,
        type=kind,
        attributes=_attributes(cursor, strict),
        work_config=read_work(work),
        predicate=read_predicate(predicate) if predicate is not None else None,
        memoizable=cursor.flag("memoizable"),
        labels=cursor.texts("labels"),
        **(_config(cursor, kind) if cursor.data.get("type") in TYPES else {}),
    )


def _check_known(cursor: Cursor) -> None:
    cursor.only(_KNOWN)
    for part, fields in FIELDS.items():
        if isinstance(inner := cursor.data.get(part), dict):
            Cursor(cast("dict[str, Any]", inner), cursor.at(part), cursor.notes).only(fields)


def _id(cursor: Cursor) -> StepId:
    found = cursor.text("id", required=True)
    if found and not is_id(found):
        cursor.note("id", f"'{found}' is no id", RULE)
    return StepId(found)


def _config(cursor: Cursor, kind: StepType) -> dict[str, Any]:
    """The one sub-config that the type requires; any other is a flaw."""
    wanted = CONFIG_OF[kind]
    for part in CONFIGS:
        if part != wanted and cursor.data.get(part) is not None:
            use = next(each for each, config in CONFIG_OF.items() if config == part)
            cursor.note(part, f"'{part}' is not allowed for type '{kind}'", f"remove it or use type '{use}'")
    inner = cursor.child(wanted)
    if inner is not None:
        return {wanted: CONFIGS[wanted](inner)}
    if cursor.data.get(wanted) is None:
        cursor.note(wanted, f"'{wanted}' is missing for type '{kind}'", "add it")
    return {}


def _attributes(cursor: Cursor, strict: bool) -> dict[str, Attribute]:
    holder = cursor.child("attributes")
    found: dict[str, Attribute] = {}
    for name in sorted(holder.data) if holder is not None else ():
        assert holder is not None
        if holder.full:
            break
        if not name.strip():
            holder.note(name, "an attribute has no name", "name it")
        elif not name.isprintable():
            holder.note(name, f"the name of attribute {name!r} has a line break or a control character", "remove it")
        inner = holder.child(name)
        if inner is not None:
            found[name] = read_attribute(inner, name, strict)
        elif holder.data[name] is None:
            holder.note(name, f"attribute '{name}' is null", "remove it or give it a role")
    return _fold_maps(cursor, found)


def _fold_maps(cursor: Cursor, found: dict[str, Attribute]) -> dict[str, Attribute]:
    """Expands the shorthands `input_map` and `output_map` of a flow step into `mapping.name` of the attributes."""
    flow = cursor.child("flow") if isinstance(cursor.data.get("flow"), dict) else None
    if flow is None:
        return found
    for field, roles in (("input_map", ("required", "optional")), ("output_map", ("output",))):
        place = Cursor(flow.texts(field), flow.at(field), flow.notes)
        for outer, inner in place.data.items():
            if outer not in found or found[outer].role not in roles:
                side = "input" if field == "input_map" else "output"
                place.note(outer, f"'{outer}' in '{field}' is no {side} of the step", "declare it or remove it")
            elif inner:
                found[outer] = _renamed(place, found[outer], outer, inner)
    return found


def _renamed(place: Cursor, old: Attribute, outer: str, inner: str) -> Attribute:
    detail = old.detail
    given = old.inner("")
    if given and given != inner:
        place.note(outer, f"'{outer}' is mapped twice and differs: '{given}', '{inner}'", "keep one")
    if inner == outer and detail.mapping is None:
        return old
    mapping = Mapping(inner, detail.mapping.script if detail.mapping is not None else None)
    return attribute(old.role, old.type, msgspec.structs.replace(detail, mapping=mapping))


# -- checks across parts that are each valid by themselves -------------------------------------------------------------


def params(address: str) -> list[str]:
    """The names in braces of an endpoint."""
    return _PARAM.findall(address)


def check_rules(step: Step, cursor: Cursor) -> None:
    _check_inner_names(step, cursor)
    _check_params(step, cursor)
    _check_tables(step, cursor)
    if step.compensate and step.memoizable:
        part = "http" if step.http is not None else "python"
        what = "'compensate' and 'memoizable' exclude each other"
        cursor.inside(part).note("compensate", what, "remove one: what is undone can't be taken from memory")


def _check_inner_names(step: Step, cursor: Cursor) -> None:
    for side in (step.inputs(), step.outputs()):
        seen: dict[str, str] = {}
        for name, each in side:
            inner = each.inner(name)
            if inner in seen:
                what = f"'{seen[inner]}' and '{name}' have the same inner name '{inner}'"
                cursor.inside("attributes").note(name, what, "map one to another name")
            seen.setdefault(inner, name)


def _check_params(step: Step, cursor: Cursor) -> None:
    if step.http is None:
        return
    required = {each.inner(name) for name, each in step.inputs() if each.role == "required"}
    anything = {each.inner(name) for name, each in step.attributes.items()}
    for field, known, kind in (
        ("endpoint", required, "a required input"),
        ("compensate", anything, "an input or output"),
    ):
        for param in params(getattr(step.http, field)):
            if param not in known:
                names = ", ".join(sorted(known))
                fix = f"name {kind}: {names}" if known else f"add '{param}' as {kind}"
                cursor.inside("http").note(field, f"unknown {{{param}}} in http.{field}", fix)


def _check_tables(step: Step, cursor: Cursor) -> None:
    """Checks that a pipeline's data and the tables of its joins are inputs."""
    if step.pipeline is None:
        return
    known, place = step.arguments, cursor.inside("pipeline")
    fix = f"name an input: {', '.join(known)}" if known else "add it as an input"
    if step.pipeline.data and step.pipeline.data not in known:
        place.note("data", f"'data' is '{step.pipeline.data[:80]}', which is no input", fix)
    for name in step.pipeline.tables:
        if name not in known:
            place.note("steps", f"a join names the table '{name[:80]}', which is no input", fix)


# -- limits of size, checked before the shape --------------------------------------------------------------------------


def check_sizes(data: dict[str, Any]) -> None:
    identifier = data.get("id")
    shown = str(identifier)[:_SHOWN] if identifier is not None else ""
    if isinstance(identifier, str) and len(identifier) > limits.ID_LENGTH:
        raise OverLimit(
            f"the id of step '{shown}…'", len(identifier), limits.ID_LENGTH, "characters", "choose a shorter id"
        )
    size = len(values.plain(data))
    if size > limits.STEP_BYTES:
        raise OverLimit(f"step '{shown}'", size, limits.STEP_BYTES, "bytes", "make it smaller")
    _check_count(f"step '{shown}'", data.get("labels"), limits.LABELS, "labels")
    flow = data.get("flow")
    if isinstance(flow, dict):
        _check_count(f"flow step '{shown}'", cast("dict[str, Any]", flow).get("goals"), limits.GOALS, "goals")
    if size > limits.SCRIPT_BYTES:
        _check_scripts(data, shown)


def _check_count(what: str, things: Any, limit: int, unit: str) -> None:
    count = len(cast("list[Any]", things)) if isinstance(things, dict | list) else 0
    if count > limit:
        raise OverLimit(what, count, limit, unit, "remove some")


def _check_scripts(data: dict[str, Any], shown: str) -> None:
    for text in _scripts(data):
        length = len(text.encode())
        if length > limits.SCRIPT_BYTES:
            raise OverLimit(f"a script of step '{shown}'", length, limits.SCRIPT_BYTES, "bytes", "shorten or split it")


def _scripts(value: Any) -> Iterator[str]:
    """Every text under a key `script` at any depth: main script, predicate, match, mapping."""
    if isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            if key == "script" and isinstance(inner, str):
                yield inner
            elif key not in ("labels", "run"):
                yield from _scripts(inner)
