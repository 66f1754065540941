"""Messages to a recording: their bodies."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.errors import Flaw, InvalidInput

T = TypeVar("T")

CALL, PRESET, STOP, CANCEL_CALL = "call", "preset", "stop", "cancel_call"
MESSAGES = (CALL, PRESET, STOP, CANCEL_CALL)


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all bodies."""


class CallBody(Body, frozen=True, kw_only=True):
    tool: str
    """The name used by the caller, and by the template."""
    arguments: Any = {}
    server: str = ""
    """The tool's server, if known."""
    bare: str = ""
    """The tool's name on that server, if it differs from `tool`."""
    session: str = ""
    read_only: bool | None = None


class PresetBody(Body, frozen=True, kw_only=True):
    step: str = msgspec.field(name="stepName")
    output: Any
    tool: str = msgspec.field(name="toolName", default="")
    input: Any = {}
    replace: bool = False


class StopBody(Body, frozen=True, kw_only=True):
    output: Any = msgspec.UNSET


class CancelCallBody(Body, frozen=True, kw_only=True):
    call: str
    """The id of the message that requested it."""


def read_body(name: str, body: Raw, shape: type[T]) -> T:
    try:
        return msgspec.convert(values.decode(body) or {}, shape)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `")
        pointer = values.pointer(place.removesuffix("`"))
        text = f'The message "{name}" can\'t be read: {what}.'
        raise InvalidInput("bad_message", text, flaws=[Flaw("bad_message", pointer, text)]) from None
