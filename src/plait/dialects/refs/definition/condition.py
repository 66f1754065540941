"""A condition of a step: a reference and at most one operator. Evaluating it never fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

import msgspec

from plait.conditions.budget import is_number
from plait.conditions.types.when import OPERATORS, holds
from plait.definitions.flaws import MOST
from plait.definitions.nearest import nearest
from plait.definitions.shape import shown
from plait.dialects.refs.references.heads import INDEX, ITEM
from plait.dialects.refs.references.resolve import MISSING, Scope, lookup
from plait.dialects.refs.references.template import Ref, parse

Note = Callable[[str, str], None]
"""Called with a path below the condition and the flaw there."""


class Condition(msgspec.Struct, frozen=True):
    ref: Ref
    operator: str | None = None
    operand: Any = None

    def judge(self, scope: Scope) -> tuple[bool, Any]:
        """The verdict, and the value that was tested; a missing one counts as null."""
        found = lookup(self.ref, scope)
        value = None if found is MISSING else found
        return holds(self.operator, self.operand, value), value


def read_condition(written: Mapping[str, Any], note: Note) -> Condition | None:
    """Parses a condition; None if it is invalid, which is noted."""
    sound = True
    for field in islice((field for field in written if field != "ref" and field not in OPERATORS), MOST):
        meant = nearest(field, ("ref", *OPERATORS))
        fix = f"Did you mean `{meant}`?" if meant is not None else f"Use one of {', '.join(OPERATORS)}."
        note(f"/{field}", f"a condition has no operator `{field}`. {fix}")
        sound = False
    ref = _reference(written.get("ref"), note)
    given = [name for name in OPERATORS if name in written]
    if len(given) > 1:
        note("", f"use {' or '.join(f'`{name}`' for name in given)}, not both.")
        return None
    operator = given[0] if given else None
    if operator is not None and not _operand(operator, written[operator], note):
        return None
    if ref is None or not sound:
        return None
    return Condition(ref, operator, None if operator is None else written[operator])


def _reference(written: Any, note: Note) -> Ref | None:
    ref = parse(written).whole if isinstance(written, str) else None
    if ref is None:
        got = "It is missing." if written is None else f"Got {shown(written)}."
        note("/ref", f'the `ref` of a condition must be one whole reference, such as "@step.field". {got}')
    elif ref.head in (ITEM, INDEX):
        note("/ref", f'a condition is judged once, before any iteration: it can\'t read "{ref.text}".')
        return None
    return ref


def _operand(operator: str, operand: Any, note: Note) -> bool:
    match operator:
        case "gt" | "lt" | "gte" | "lte" if not is_number(operand):
            note(f"/{operator}", f"`{operator}` needs a number, got {shown(operand)}.")
        case "exists" if not isinstance(operand, bool):
            note("/exists", f"`exists` needs true or false, got {shown(operand)}.")
        case "in" if not isinstance(operand, list):
            note("/in", f"`in` needs an array, got {shown(operand)}.")
        case _:
            return True
    return False
