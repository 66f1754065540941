"""Reads JSON by the structures of a language, and notes every part that does not fit instead of stopping at it.

A wrong part gets its default, so that reading continues and one answer names all flaws. A wrong part without a default
makes its whole object unreadable, which is then left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import inspect

from .flaws import MOST, Note, escape
from .nearest import nearest

_MISSING: Any = object()
"""Stands for a value that can't be read and has no default."""


class ShapeReader:
    """Reads the parts of one definition; `notes` collects the flaws of all of them."""

    def __init__(self, code: str, other_words: Mapping[str, str] | None = None) -> None:
        """`other_words`: other systems' names of fields, where they are too different to be found by spelling."""
        self.notes: list[Note] = []
        self._code = code
        self._other_words = other_words or {}

    def object(self, struct: type[msgspec.Struct], data: Mapping[str, Any], pointer: str, owner: str) -> Any:
        """Reads an object; None if it can't be read. Every message begins with `owner`, such as "node `A`: "."""
        found = self._struct(_info(struct), data, _Place(pointer, "", owner))
        return None if found is _MISSING else found

    @property
    def full(self) -> bool:
        """Whether enough flaws are noted, so that the rest need not be read."""
        return len(self.notes) >= MOST

    def note(self, pointer: str, what: str, fix: str = "") -> None:
        self.notes.append(Note(pointer, what, fix, self._code))

    def _read(self, info: inspect.Type, value: Any, at: _Place) -> Any:
        match info:
            case inspect.Metadata():
                return self._read(info.type, value, at)
            case inspect.AnyType():
                return value
            case inspect.StructType():
                if not isinstance(value, dict):
                    return self._wrong(info, value, at)
                return self._struct(info, cast("dict[str, Any]", value), at)
            case inspect.ListType():
                return self._list(info, value, at)
            case inspect.DictType():
                return self._dict(info, value, at)
            case inspect.UnionType():
                return self._union(info, value, at)
            case _:
                return self._plain(info, value, at)

    def _struct(self, info: inspect.StructType, data: Mapping[str, Any], at: _Place) -> Any:
        known = {field.encode_name: field for field in info.fields}
        for name in data:
            if name not in known and not self.full:
                self._unknown(name, known, at)
        found: dict[str, Any] = {}
        for field in known.values():
            value = self._field(field, data, at)
            if value is not _MISSING or field.required:
                found[field.name] = value
        return _MISSING if _MISSING in found.values() else info.cls(**found)

    def _field(self, field: inspect.Field, data: Mapping[str, Any], at: _Place) -> Any:
        """Reads a field. Null counts as absent, unless the structure gives it a meaning."""
        name = field.encode_name
        value = data.get(name)
        if value is not None:
            return self._read(field.type, value, at.inside(name))
        if name in data and _takes_null(field.type):
            return None
        if field.required:
            self.note(at.pointer, f"{at.owner}{at.inside(name).path} is required")
        return _MISSING

    def _list(self, info: inspect.ListType, value: Any, at: _Place) -> Any:
        if not isinstance(value, list | tuple):
            return self._wrong(info, value, at)
        written = enumerate(cast("list[Any]", value))
        items = [self._read(info.item_type, each, at.item(i)) for i, each in written if not self.full]
        return [each for each in items if each is not _MISSING]

    def _dict(self, info: inspect.DictType, value: Any, at: _Place) -> Any:
        if not isinstance(value, dict):
            return self._wrong(info, value, at)
        if isinstance(info.value_type, inspect.AnyType):
            return cast("dict[str, Any]", value)
        read = {
            key: self._read(info.value_type, item, at.inside(key))
            for key, item in cast("dict[str, Any]", value).items()
            if not self.full
        }
        return {key: item for key, item in read.items() if item is not _MISSING}

    def _union(self, info: inspect.UnionType, value: Any, at: _Place) -> Any:
        """Reads the value as the member that takes this kind of JSON, and notes that member's flaws."""
        members = [each for each in map(_bare, info.types) if not isinstance(each, inspect.NoneType)]
        for member in members:
            if _takes(member, value):
                return self._read(member, value, at)
        return self._wrong(info, value, at)

    def _plain(self, info: inspect.Type, value: Any, at: _Place) -> Any:
        return value if _fits(info, value) else self._wrong(info, value, at)

    def _wrong(self, info: inspect.Type, value: Any, at: _Place) -> Any:
        self.note(at.pointer, f"{at.owner}{at.path} must be {_wanted(info)}, got {shown(value)}")
        return _MISSING

    def _unknown(self, name: str, known: Mapping[str, Any], at: _Place) -> None:
        other = self._other_words.get(name)
        meant = other if other in known else nearest(name, known)
        fix = f"did you mean `{meant}`?" if meant is not None else f"known: {', '.join(sorted(known))}"
        self.note(at.inside(name).pointer, f"{at.owner}unknown field `{at.inside(name).path}`", fix)


class _Place(msgspec.Struct, frozen=True):
    pointer: str
    path: str
    """The path below the owner, as people write it."""
    owner: str

    def inside(self, name: str) -> _Place:
        path = f"{self.path}.{name}" if self.path else name
        return _Place(f"{self.pointer}/{escape(name)}", path, self.owner)

    def item(self, index: int) -> _Place:
        return _Place(f"{self.pointer}/{index}", f"{self.path}[{index}]", self.owner)


_infos: dict[type, inspect.StructType] = {}


def _info(struct: type[msgspec.Struct]) -> inspect.StructType:
    found = _infos.get(struct)
    if found is None:
        found = _infos[struct] = cast("inspect.StructType", inspect.type_info(struct))
    return found


def _bare(info: inspect.Type) -> inspect.Type:
    return _bare(info.type) if isinstance(info, inspect.Metadata) else info


def _takes_null(info: inspect.Type) -> bool:
    return isinstance(info, inspect.UnionType) and info.includes_none


def _takes(info: inspect.Type, value: Any) -> bool:
    """Whether the type is written as this kind of JSON; its parts may still be wrong."""
    match info:
        case inspect.StructType() | inspect.DictType():
            return isinstance(value, dict)
        case inspect.ListType():
            return isinstance(value, list)
        case inspect.StrType() | inspect.LiteralType():
            return isinstance(value, str)
        case inspect.BoolType():
            return isinstance(value, bool)
        case _:
            return isinstance(value, int | float) and not isinstance(value, bool)


def _fits(info: inspect.Type, value: Any) -> bool:
    try:
        msgspec.convert(value, _plain_type(info), strict=True)
    except msgspec.ValidationError:
        return False
    return True


def _plain_type(info: inspect.Type) -> Any:
    match info:
        case inspect.BoolType():
            return bool
        case inspect.StrType():
            return _annotated(str, pattern=info.pattern, min_length=info.min_length, max_length=info.max_length)
        case inspect.IntType():
            return _annotated(int, ge=info.ge, le=info.le)
        case inspect.FloatType():
            return _annotated(float, ge=info.ge, gt=info.gt)
        case inspect.LiteralType():
            return Literal[info.values]
        case _:
            raise TypeError(f"no field of a definition is a {type(info).__name__}")


def _annotated(type: Any, **bounds: Any) -> Any:
    return Annotated[type, msgspec.Meta(**{name: each for name, each in bounds.items() if each is not None})]


def _wanted(info: inspect.Type) -> str:
    match info:
        case inspect.BoolType():
            return "true or false"
        case inspect.StrType():
            return _wanted_text(info)
        case inspect.IntType():
            return _wanted_integer(info)
        case inspect.FloatType():
            return "a number above 0" if info.gt is not None else f"a number of {info.ge or 0:g} or more"
        case inspect.LiteralType():
            return " or ".join(f"`{each}`" for each in info.values)
        case inspect.ListType():
            return "an array"
        case inspect.UnionType():
            members = [each for each in map(_bare, info.types) if not isinstance(each, inspect.NoneType)]
            return " or ".join(map(_wanted, members))
        case _:
            return "an object"


def _wanted_text(info: inspect.StrType) -> str:
    if info.pattern is not None:
        return "1 to 64 letters, digits, `_` or `-`"
    return f"a string of 1 to {info.max_length} characters" if info.min_length else "a string"


def _wanted_integer(info: inspect.IntType) -> str:
    return f"an integer from {info.ge} to {info.le}" if info.le is not None else f"an integer of {info.ge} or more"


def shown(value: Any) -> str:
    """Formats a value for a message: short ones unchanged."""
    match value:
        case None:
            return "nothing"
        case bool() | int() | float():
            return msgspec.json.encode(value).decode()
        case str():
            return f"`{value}`" if len(value) <= 64 else f"`{value[:61]}...`"
        case dict():
            return "an object"
        case _:
            return "an array"
