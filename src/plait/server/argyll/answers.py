"""The mount's errors, and the encoding of its answers."""

from __future__ import annotations

from typing import Any

import msgspec

from plait.dialects.goals.errors import GoalsError
from plait.kernel.errors import PlaitError
from plait.server import problem
from plait.server.headers import NO_STORE

from .route import Said

_JSON = (b"content-type", b"application/json")
_INVALID = 422
"""A status that the mount's clients don't know; they get 400 instead."""


class Refusal(msgspec.Struct, frozen=True):
    error: str
    status: int
    code: str


def refusal(error: PlaitError) -> Said:
    status = error.mount_status if isinstance(error, GoalsError) else error.status
    status = 400 if status == _INVALID else status
    return Said(Refusal(_words(error), status, error.code), status)


def _words(error: PlaitError) -> str:
    if isinstance(error, GoalsError):
        return error.message
    text = f"{error.what}: {error.why}" if error.why else error.what
    return f"{text}; {error.fix}" if error.fix else text


def headers_of(error: PlaitError) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode("latin-1", "replace")) for name, value in problem.headers_of(error).items()]


def encoded(said: Said) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """Returns the body and the headers that describe it."""
    headers: list[tuple[bytes, bytes]] = [NO_STORE]
    if said.shape is None:
        return b"", headers
    body = msgspec.json.encode(said.shape)
    return body, [*headers, _JSON]


def tidy(**fields: Any) -> dict[str, Any]:
    """Leaves out absent fields: the mount's clients never see null for them."""
    return {name: value for name, value in fields.items() if value is not None and value != ""}
