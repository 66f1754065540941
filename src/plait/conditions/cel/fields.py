"""Access to parts of values: `a.b`, `has(a.b)` and `a["b"]`, with messages that say where something is missing."""

from __future__ import annotations

from typing import Any, cast

from plait.conditions.findings import listed, shortened

from . import numbers
from .errors import CelError
from .evaluation import Run, Value
from .operators import kind_of, mismatch
from .syntax import Call, Literally, Name, Node, Select


def selected(operand: Value, field: str, node: Node) -> Value:
    def select(run: Run) -> Any:
        found = operand(run)
        try:
            return found[field]
        except (KeyError, TypeError, IndexError):
            raise _no_such_field(field, found, node, run) from None

    return select


def tested(operand: Value, field: str) -> Value:
    def test(run: Run) -> bool:
        found = operand(run)
        return isinstance(found, dict) and field in found

    return test


def indexed(operand: Value, index: Value, node: Node) -> Value:
    def take(run: Run) -> Any:
        found, key = operand(run), index(run)
        if isinstance(found, list) and numbers.is_number(key):
            return _item(cast("list[Any]", found), key, node)
        if isinstance(found, dict) and isinstance(key, str):
            if key in found:
                return cast("dict[str, Any]", found)[key]
            raise _no_such_field(key, cast("Any", found), node, run)
        raise mismatch("`[]`", found, key)

    return take


def _item(items: list[Any], index: int | float, node: Node) -> Any:
    at = numbers.whole(index, "`[]`")
    if 0 <= at < len(items):
        return items[at]
    raise CelError("out_of_range", f"no item {at} in {_described(node, '')}: it has {len(items):,}")


def _no_such_field(field: str, found: Any, node: Node, run: Run) -> CelError:
    if isinstance(node, Name) and node.name == "ctx":
        return CelError("no_such_field", f"node `{shortened(field)}` has not run")
    message = f"no field `{shortened(field)}` in {_described(node, run.node)}"
    if isinstance(found, dict):
        return CelError("no_such_field", f"{message}; it has: {listed(cast('dict[str, Any]', found))}")
    return CelError("no_such_field", f"{message}: that is {kind_of(found)}")


def _described(node: Node, current: str) -> str:
    """Describes, for messages, where a field was looked up."""
    match node:
        case Name(name="output") | Select(operand=Name(name="current"), field="output") if current:
            return f"output of `{current}`"
        case Name(name="output"):
            return "output"
        case Select(operand=Select(operand=Name(name="ctx"), field=name), field="output"):
            return f"output of `{name}`"
        case _:
            return f"`{shortened(path_of(node))}`"


def path_of(node: Node) -> str:
    match node:
        case Name():
            return node.name
        case Select():
            return f"{path_of(node.operand)}.{node.field}"
        case Call(function="_[_]", arguments=(operand, Literally(value=int() | str() as key))):
            return f"{path_of(operand)}[{key!r}]"
        case _:
            return "…"
