"""Reading a union of several dataclasses or models, which msgspec does not: the one whose fields fit best is taken."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

import msgspec

_keys = msgspec.json.Decoder(dict[str, msgspec.Raw])


def members_of(type: Any) -> tuple[Any, ...]:
    """The members of a union; empty for other types."""
    return typing.get_args(type) if typing.get_origin(type) in (typing.Union, types.UnionType) else ()


class UnionDecoder:
    def __init__(self, members: list[tuple[Any, msgspec.json.Decoder[Any]]]) -> None:
        self._members = members

    def decode(self, raw: bytes | msgspec.Raw) -> Any:
        """Of the members that can read it, the one that knows the most of its fields; of equals, the first."""
        known: list[tuple[int, Any]] = []
        problems: list[str] = []
        for member, decoder in self._members:
            try:
                known.append((-_unknown(member, raw), decoder.decode(raw)))
            except (msgspec.DecodeError, TypeError, ValueError) as error:
                problems.append(str(error))
        if not known:
            raise msgspec.ValidationError("; ".join(problems))
        return max(known, key=lambda found: found[0])[1]


def _unknown(member: Any, raw: bytes | msgspec.Raw) -> int:
    """How many keys of an object it has no field for."""
    if not bytes(raw).startswith(b"{"):
        return 0
    fields = {field.name for field in dataclasses.fields(member)} if dataclasses.is_dataclass(member) else None
    fields = fields or set(getattr(member, "model_fields", ()) or getattr(member, "__struct_fields__", ()))
    return len(_keys.decode(raw).keys() - fields) if fields else 0
