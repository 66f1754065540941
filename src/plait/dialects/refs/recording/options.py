"""The options of a draft."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from plait.definitions.nearest import did_you_mean
from plait.kernel import values
from plait.kernel.errors import Flaw, InvalidInput

BAD_OPTIONS: Final = "bad_options"


class DraftOptions(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    include: list[str] = []
    """Steps to include that would be left out."""
    exclude: list[str] = []
    accept: list[str] | Literal["high"] = []
    """Ids of suggestions; `high`: all with a confidence of at least 80 %."""
    rename: dict[str, str] = {}
    """New names of steps, by their recorded names."""
    order: Literal["effects", "data"] = "effects"
    """`data`: steps wait only for what they reference, even those with effects."""
    output: Any = msgspec.UNSET
    """The output of the template, with references; by default what its last steps return."""
    input_schema: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    """Replaces the inferred schema."""
    title: str = ""
    description: str = ""


def read_options(given: Mapping[str, Any]) -> DraftOptions:
    """Parses options; raises with the place of what is invalid."""
    unknown = next((name for name in given if name not in DraftOptions.__struct_fields__), None)
    if unknown is not None:
        fix = did_you_mean(unknown, DraftOptions.__struct_fields__, "remove it")
        raise _refused(f"/options/{unknown}", f"a draft has no option `{unknown}`", fix)
    try:
        return msgspec.convert(given, DraftOptions)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `")
        raise _refused(
            f"/options{values.pointer(place.removesuffix('`'))}", f"an option can't be read: {what}", ""
        ) from None


def _refused(pointer: str, what: str, fix: str) -> InvalidInput:
    message = f"{what}; {fix}" if fix else what
    return InvalidInput(BAD_OPTIONS, what, fix=fix, flaws=[Flaw(BAD_OPTIONS, pointer, message)])
