"""What must hold between the parts of a step that are each right by themselves."""

from __future__ import annotations

import re

from plait.definitions.cursor import Cursor

from .step import Step

_PARAM = re.compile(r"\{([^{}]*)\}")


def params(address: str) -> list[str]:
    """The names in braces of an endpoint."""
    return _PARAM.findall(address)


def check_rules(step: Step, cursor: Cursor) -> None:
    _check_inner_names(step, cursor)
    _check_params(step, cursor)
    if step.compensate and step.memoizable:
        part = "http" if step.http is not None else "python"
        what = "'compensate' and 'memoizable' exclude each other"
        cursor.inside(part).note("compensate", what, "remove one: what is undone can't be taken from memory")


def _check_inner_names(step: Step, cursor: Cursor) -> None:
    for side in (step.inputs(), step.outputs()):
        seen: dict[str, str] = {}
        for name, attribute in side:
            inner = attribute.inner(name)
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
