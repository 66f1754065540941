"""Makes types readable that msgspec can't read: unions of several dataclasses or models, at any depth.

A union may be in a list, a dictionary or a field of a dataclass. Each such place gets a class of our own that msgspec
passes plain JSON to: the union member whose fields fit best reads it. Members with the same fields can't be told apart
and are rejected.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any, cast

import msgspec

DecHook = Callable[[type[Any], Any], Any]
Convert = Callable[[Any], Any]


class Reader(type):
    """Metaclass of classes that stand for a type: whatever their `read` returns counts as an instance."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return True


class ReadableTypes:
    """Finds the type to pass to msgspec. `hook` reads types unknown to msgspec, including the classes made here."""

    def __init__(self, hook: DecHook) -> None:
        self._hook = hook
        self._records: dict[type[Any], Any] = {}

    def readable(self, kind: Any) -> Any:
        """The type itself if msgspec can read it, otherwise a stand-in; raises TypeError if there is none."""
        try:
            msgspec.json.Decoder(kind, dec_hook=self._hook)
        except TypeError:
            found = self._stand_in(kind)
            if found is None:
                raise
            return found
        return kind

    def _stand_in(self, kind: Any) -> Any:
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin in (typing.Union, types.UnionType):
            return self._union(arguments)
        if origin is typing.Annotated:
            return self.readable(arguments[0])
        if origin is not None and arguments:
            found = tuple(part if part is ... else self.readable(part) for part in arguments)
            return None if found == arguments else origin[found]
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            return self._record(cast("type[Any]", kind))
        return None

    def _union(self, members: tuple[Any, ...]) -> Any:
        _must_differ(members)
        readers = [(fields_of(member), self._converter(member)) for member in members]

        def read(value: Any) -> Any:
            """Of the members that can read the value, the one whose fields are nearest to its keys; of equals, the
            first."""
            fitting: list[tuple[int, Any]] = []
            problems: list[str] = []
            for fields, convert in readers:
                try:
                    fitting.append((_distance(fields, value), convert(value)))
                except (msgspec.ValidationError, TypeError, ValueError) as error:
                    problems.append(str(error))
            if not fitting:
                raise ValueError("; ".join(problems))
            return min(fitting, key=lambda found: found[0])[1]

        return _reader(read)

    def _record(self, kind: type[Any]) -> Any:
        """A stand-in for a dataclass with such a union among its fields, perhaps recursively."""
        if kind in self._records:
            return self._records[kind]
        converters: dict[str, Convert] = {}

        def read(value: Any) -> Any:
            found = msgspec.convert(value, dict[str, Any])
            return kind(**{name: convert(found[name]) for name, convert in converters.items() if name in found})

        made = self._records[kind] = _reader(read)
        hints = typing.get_type_hints(kind, include_extras=True)
        fields = [field.name for field in dataclasses.fields(kind) if field.init]
        converters |= {name: self._converter(hints[name]) for name in fields}
        return made

    def _converter(self, kind: Any) -> Convert:
        found = self.readable(kind)
        return lambda value: msgspec.convert(value, found, str_keys=True, dec_hook=self._hook)


def _reader(read: Convert) -> Any:
    return Reader("Reader", (), {"read": staticmethod(read)})


def fields_of(kind: Any) -> frozenset[str]:
    """The names of a type's fields; empty if it is not an object in JSON."""
    if dataclasses.is_dataclass(kind):
        return frozenset(field.name for field in dataclasses.fields(kind))
    return frozenset(getattr(kind, "model_fields", ()) or getattr(kind, "__struct_fields__", ()))


def _must_differ(members: Iterable[Any]) -> None:
    seen: dict[frozenset[tuple[str, str]], str] = {}
    for member in members:
        if fields_of(member):
            fields = frozenset((name, str(note)) for name, note in typing.get_type_hints(member).items())
            other = seen.setdefault(fields, member.__name__)
            if other != member.__name__:
                raise TypeError(f"`{other}` and `{member.__name__}` have the same fields: JSON can't tell them apart")


def _distance(fields: frozenset[str], value: Any) -> int:
    """How many keys of an object are not fields, plus how many fields it lacks."""
    return len(fields ^ set(cast("dict[str, Any]", value))) if fields and isinstance(value, dict) else 0
