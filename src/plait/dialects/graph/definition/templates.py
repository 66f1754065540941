"""Values with holes: text in a config or an output that stands for what the run knows by then.

    "$nodes.charge.id"                 that part of a node's output, of any type
    "$input.items[0]"  "$payload"      of the run's input; all of what the node received
    "Order ${input.id} of ${payload.customer.name}"       inside text, as text
    "$$5"                              a dollar sign; one that starts none of these needs no escape

A template is parsed once, when the definition is compiled, and resolved for each token. A hole without a value is
an error: a message to nobody is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import msgspec

Root = Literal["nodes", "input", "payload"]
Step = str | int

_ROOT = r"(nodes|input|payload)"
_STEP = r"(?:\.[A-Za-z0-9_-]+|\[\d{1,9}\]|\[\"[^\"\\]*\"\])"
_WHOLE = re.compile(rf"\${_ROOT}({_STEP}*)")
_INNER = re.compile(rf"\$?{_ROOT}({_STEP}*)")
_PART = re.compile(r"\.([A-Za-z0-9_-]+)|\[(\d+)\]|\[\"([^\"\\]*)\"\]")
_HOLE = re.compile(r"\$\$|\$\{([^}]*)(\}?)")
_LOOKS_WHOLE = re.compile(rf"\${_ROOT}\b")


class BadTemplate(Exception):
    """The template can't be parsed. The text has the reason and the fix; the place is that of the value."""

    def __init__(self, path: Sequence[Step], what: str, fix: str) -> None:
        super().__init__(what, fix)
        self.path = tuple(path)
        self.what = what
        self.fix = fix


class Unresolved(Exception):
    """A hole without a value, at run time."""

    def __init__(self, hole: Hole, why: str) -> None:
        super().__init__(f"`{hole.text}` finds nothing: {why}")
        self.hole = hole
        self.why = why


@dataclass(frozen=True, slots=True)
class Scope:
    """The values that a template may refer to."""

    nodes: Mapping[str, Any]
    """The outputs of nodes that have run."""
    input: Any = None
    payload: Any = None


@dataclass(frozen=True, slots=True)
class Hole:
    root: Root
    steps: tuple[Step, ...]
    """For `nodes`, the first step is the node."""
    text: str

    @property
    def node(self) -> str | None:
        return str(self.steps[0]) if self.root == "nodes" else None

    def resolve(self, scope: Scope) -> Any:
        match self.root:
            case "nodes":
                return self._in_nodes(scope.nodes)
            case "input":
                return self._walk(scope.input, self.steps, "the input")
            case "payload":
                return self._walk(scope.payload, self.steps, "the payload")

    def _in_nodes(self, nodes: Mapping[str, Any]) -> Any:
        id = str(self.steps[0])
        if id not in nodes:
            raise Unresolved(self, f"node `{id}` has not run")
        return self._walk(nodes[id], self.steps[1:], f"the output of `{id}`")

    def _walk(self, value: Any, steps: Sequence[Step], where: str) -> Any:
        for step in steps:
            value = self._step(value, step, where)
        return value

    def _step(self, value: Any, step: Step, where: str) -> Any:
        match value:
            case dict() if str(step) in value:
                return cast("dict[str, Any]", value)[str(step)]
            case dict():
                names = ", ".join([*cast("dict[str, Any]", value)][:20])
                raise Unresolved(self, f"{where} has no `{step}`; it has: {names or 'nothing'}")
            case list() if str(step).isdecimal():
                items = cast("list[Any]", value)
                if int(step) < len(items):
                    return items[int(step)]
                raise Unresolved(self, f"{where} has {len(items)} items there")
            case _:
                raise Unresolved(self, f"{where} has nothing below `{step}`")


class Template:
    """A parsed value. Without holes it is the value itself."""

    __slots__ = ("_fill", "holes", "value")

    def __init__(self, value: Any, fill: _Fill | None, holes: tuple[Hole, ...]) -> None:
        self.value = value
        self._fill = fill
        self.holes = holes

    @property
    def reads(self) -> frozenset[str]:
        """The nodes whose outputs it reads."""
        return frozenset(hole.node for hole in self.holes if hole.node is not None)

    def resolve(self, scope: Scope) -> Any:
        """Returns the value; raises `Unresolved`."""
        return self.value if self._fill is None else self._fill(scope)


_Fill = Callable[[Scope], Any]


def parse(value: Any) -> Template:
    """Parses a value; raises `BadTemplate`."""
    holes: list[Hole] = []
    fill = _parse(value, (), holes)
    return Template(value, fill, tuple(holes))


def nodes_in(value: Any) -> frozenset[str]:
    """The nodes that a value refers to; none if it can't be parsed, which is reported elsewhere."""
    try:
        return parse(value).reads
    except BadTemplate:
        return frozenset()


def has_hole(text: str) -> bool:
    """Whether it has a hole, whose value is unknown before the run."""
    return _LOOKS_WHOLE.match(text) is not None or any(found[0] != "$$" for found in _HOLE.finditer(text))


def _parse(value: Any, path: tuple[Step, ...], holes: list[Hole]) -> _Fill | None:
    """The function that fills its holes; None if it has none."""
    match value:
        case str():
            return _text(value, path, holes) if "$" in value else None
        case dict():
            fields = {key: _parse(item, (*path, key), holes) for key, item in cast("dict[str, Any]", value).items()}
            return _object(cast("dict[str, Any]", value), fields) if any(fields.values()) else None
        case list() | tuple():
            items = [_parse(item, (*path, index), holes) for index, item in enumerate(cast("list[Any]", value))]
            return _array(cast("list[Any]", value), items) if any(items) else None
        case _:
            return None


def _object(value: dict[str, Any], fields: Mapping[str, _Fill | None]) -> _Fill:
    return lambda scope: {key: item if (fill := fields[key]) is None else fill(scope) for key, item in value.items()}


def _array(value: Sequence[Any], items: Sequence[_Fill | None]) -> _Fill:
    return lambda scope: [item if fill is None else fill(scope) for item, fill in zip(value, items, strict=True)]


def _text(text: str, path: Sequence[Step], holes: list[Hole]) -> _Fill | None:
    if _LOOKS_WHOLE.match(text):
        whole = _WHOLE.fullmatch(text)
        if whole is not None:
            hole = _hole(whole, text, path)
            holes.append(hole)
            return hole.resolve
    parts = [*_parts(text, path)]
    if all(isinstance(part, str) for part in parts):
        plain = "".join(cast("list[str]", parts))
        return None if plain == text else lambda scope: plain
    holes += [part for part in parts if isinstance(part, Hole)]
    return lambda scope: "".join(part if isinstance(part, str) else _as_text(part.resolve(scope)) for part in parts)


def _parts(text: str, path: Sequence[Step]) -> Iterator[str | Hole]:
    end = 0
    for found in _HOLE.finditer(text):
        yield text[end : found.start()]
        end = found.end()
        if found[0] == "$$":
            yield "$"
            continue
        if not found[2]:
            raise BadTemplate(
                path, f"template `{found[0][:40]}` has no end", "close it with `}`, or write `$$` for a dollar"
            )
        inner = _INNER.fullmatch(found[1].strip())
        if inner is None:
            what = f"`{found[0][:80]}` is no template"
            raise BadTemplate(
                path, what, "use nodes.<id>.<path>, input.<path> or payload.<path>; write `$$` for a dollar"
            )
        yield _hole(inner, found[0], path)
    yield text[end:]


def _hole(found: re.Match[str], text: str, path: Sequence[Step]) -> Hole:
    root = cast("Root", found[1])
    steps = tuple(_step(part) for part in _PART.finditer(found[2]))
    if root == "nodes" and not steps:
        raise BadTemplate(path, f"`{text}` names no node", "use $nodes.<id>.<path>")
    return Hole(root, steps, text)


def _step(part: re.Match[str]) -> Step:
    name, index, quoted = part.groups()
    return int(index) if index is not None else name if name is not None else quoted


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
