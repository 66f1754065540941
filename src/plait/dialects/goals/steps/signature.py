"""What a Python function tells of the step that it is: parameters are inputs, the return annotation names outputs.

    def charge(order_id: str, amount: float, currency: str = "EUR") -> Charge: ...

`order_id` and `amount` are required, `currency` is optional with a default. `Charge` may be a TypedDict, dataclass,
NamedTuple or msgspec struct: each field is an output; any other type is one output, `result`; None is none.
`Annotated[T, Input(...)]` and `Annotated[T, Meta("flow_id")]` say more of a parameter.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, cast

import msgspec

from plait.kernel import values
from plait.kernel.errors import InvalidInput, PlaitError

from .attribute import Attribute, Collect, Detail, Kind, attribute
from .attribute import Mapping as Renaming

RESULT = "result"
"""The output of a function that returns one unnamed value."""


@dataclasses.dataclass(frozen=True, slots=True)
class Input:
    """Options of a parameter. `deadline` is seconds to wait for an optional one, -1 for as long as it takes."""

    name: str = ""
    """The name in the catalog, if it differs from the parameter's."""
    for_each: bool = False
    collect: Collect = "first"
    deadline: float = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Meta:
    """A parameter that gets a fact about the run: `flow_id`, `step_id`, …, or one of its labels."""

    key: str


def attributes_of(fn: Callable[..., Any]) -> dict[str, Attribute]:
    """The attributes of a function's step."""
    hints = hints_of(fn)
    found: dict[str, Attribute] = {}
    for parameter in inspect.signature(fn).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise _unusable(fn, f"parameter `{parameter}` has no name of its own", "use plain named parameters")
        name, made = _input(parameter, hints.get(parameter.name, Any))
        found[name] = made
    for name, hint in output_types(hints.get("return", Any)).items():
        if name in found:
            raise _unusable(fn, f"`{name}` is an input and an output", "rename one: a name has one role in a step")
        found[name] = attribute("output", kind_of(hint))
    return found


def hints_of(fn: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(fn, include_extras=True)
    except Exception as error:
        raise _unusable(fn, f"its annotations can't be read: {error}", "import what they name") from None


def _input(parameter: inspect.Parameter, hint: Any) -> tuple[str, Attribute]:
    bare, notes = _unwrapped(hint)
    meta = next((each for each in notes if isinstance(each, Meta)), None)
    if meta is not None:
        return parameter.name, attribute("meta", kind_of(bare), Detail(key=meta.key))
    told = next((each for each in notes if isinstance(each, Input)), Input())
    optional = parameter.default is not parameter.empty
    detail = Detail(
        default=_default(parameter) if optional else None,
        for_each=told.for_each,
        collect=told.collect,
        deadline=millis(told.deadline),
        mapping=Renaming(parameter.name) if told.name and told.name != parameter.name else None,
    )
    return told.name or parameter.name, attribute("optional" if optional else "required", _kind(bare, told), detail)


def _kind(hint: Any, told: Input) -> Kind:
    """The attribute type in the catalog: of the whole list if it fans out, of one value if several are collected."""
    if told.for_each:
        return "array"
    if told.collect in ("some", "all"):
        inner = typing.get_args(hint)
        return kind_of(inner[0]) if inner and kind_of(hint) == "array" else "any"
    return kind_of(hint)


def _default(parameter: inspect.Parameter) -> str | None:
    """None where the function fills it in itself: a default of None, or one that is not JSON."""
    if parameter.default is None:
        return None
    try:
        return bytes(values.encode(parameter.default)).decode()
    except PlaitError:
        return None


def output_types(hint: Any) -> dict[str, Any]:
    """The outputs that a return annotation names."""
    returned = _returned(hint)
    if returned is type(None) or returned is Any:
        return {}
    return typing.get_type_hints(returned) if _names_outputs(returned) else {RESULT: returned}


def outputs_of(hint: Any, result: object) -> dict[str, Any]:
    """A return value as the outputs that its annotation names; without an annotation, the keys of an object are."""
    if result is None:
        return {}
    returned = _returned(hint)
    if returned is not Any and not _names_outputs(returned):
        return {RESULT: result}
    if isinstance(result, Mapping):
        return dict(cast("Mapping[str, Any]", result))
    if _is_record(type(result)):
        return {name: getattr(result, name) for name in _fields(type(result))}
    return {RESULT: result}


def arguments_of(hints: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs by inner name, decoded to the annotated types of the parameters."""
    return {name: _converted(name, value, hints.get(name, Any)) for name, value in inputs.items()}


def _converted(name: str, value: Any, hint: Any) -> Any:
    try:
        return msgspec.convert(value, _unwrapped(hint)[0])
    except msgspec.ValidationError as error:
        fix = "give it what the function's annotation says, or change that"
        raise InvalidInput(
            "goals.input_invalid", f"input '{name}' has the wrong type", why=str(error), fix=fix
        ) from None


def _returned(hint: Any) -> Any:
    """A type without `Annotated` notes, and without None if there is one other type."""
    bare, _ = _unwrapped(hint)
    if typing.get_origin(bare) in (typing.Union, types.UnionType):
        others = [each for each in typing.get_args(bare) if each is not type(None)]
        return others[0] if len(others) == 1 else bare
    return type(None) if bare is None else bare


def _names_outputs(hint: Any) -> bool:
    return typing.is_typeddict(hint) or _is_record(hint)


def _is_record(hint: Any) -> bool:
    """Whether a class has fields with names and types."""
    if not isinstance(hint, type):
        return False
    found = cast("type[Any]", hint)
    is_named_tuple = issubclass(found, tuple) and hasattr(cast("Any", found), "_fields")
    return dataclasses.is_dataclass(cast("Any", hint)) or issubclass(found, msgspec.Struct) or is_named_tuple


def _fields(record: Any) -> Sequence[str]:
    if dataclasses.is_dataclass(record):
        return [field.name for field in dataclasses.fields(record)]
    return getattr(record, "_fields", None) or record.__struct_fields__


def kind_of(hint: Any) -> Kind:
    """The attribute type of a Python type; `any` where it is several or unknown."""
    bare, _ = _unwrapped(hint)
    origin = typing.get_origin(bare) or bare
    if origin is typing.Union or origin is types.UnionType:
        return _common(each for each in typing.get_args(bare) if each is not type(None))
    if origin is typing.Literal:
        return _common([cast("Any", type(each)) for each in typing.get_args(bare)])
    if bare is None or bare is type(None):
        return "null"
    return _kind_of_class(origin) if isinstance(origin, type) else "object" if typing.is_typeddict(origin) else "any"


def _common(hints: Iterable[Any]) -> Kind:
    kinds: list[Kind] = [kind_of(each) for each in hints]
    if len(set(kinds)) == 1:
        return kinds[0]
    return "any"


def _kind_of_class(origin: type) -> Kind:
    if typing.is_typeddict(origin) or (_is_record(origin) and not issubclass(origin, tuple)):
        return "object"
    for classes, kind in _KINDS:
        if issubclass(origin, classes):
            return kind
    return "any"


_KINDS: tuple[tuple[tuple[type, ...], Kind], ...] = (
    ((bool,), "boolean"),
    ((str,), "string"),
    ((int, float), "number"),
    ((Mapping,), "object"),
    ((bytes,), "any"),
    ((Sequence, set, frozenset), "array"),
)


def _unwrapped(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type without `Annotated`, `Required` and the like; and its notes."""
    notes: tuple[Any, ...] = ()
    while (origin := typing.get_origin(hint)) in (Annotated, typing.Required, typing.NotRequired):
        hint, *more = typing.get_args(hint)
        notes += tuple(more) if origin is Annotated else ()
    return hint, notes


def millis(seconds: float) -> int:
    return -1 if seconds == -1 else round(seconds * 1000)


def _unusable(fn: Callable[..., Any], why: str, fix: str) -> InvalidInput:
    name = getattr(fn, "__qualname__", str(fn))
    return InvalidInput("goals.step_invalid", f"`{name}` can't be a step", why=why, fix=fix)
