"""Requests and answers as values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from plait.kernel import values
from plait.kernel.errors import InvalidInput

from .errors import ProtocolError


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request that a workflow sends."""

    method: str = "GET"
    url: str
    headers: Mapping[str, str] = {}
    json: Any | UnsetType = UNSET
    """The body to send as JSON, instead of `body`."""
    body: bytes | None = None
    timeout: float | None = None
    """Seconds for the whole request; at most the operator's `max_timeout`."""
    idempotency_key: str | None = None
    """The same on every attempt of a task, so that the receiver can recognize a repetition."""
    follow_redirects: bool = True
    max_bytes: int | None = None
    """Maximum bytes of the answer's body, if lower than the operator's limit."""


class Headers(Mapping[str, str]):
    """Headers of an answer. Names match in any case; values of one name are joined by commas, `all` has them apart."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name.lower(), []).append(value)

    def __getitem__(self, name: str) -> str:
        return ", ".join(self._values[name.lower()])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Headers({', '.join(self)})"  # values may be secrets

    def all(self, name: str) -> tuple[str, ...]:
        return tuple(self._values.get(name.lower(), ()))


NO_HEADERS = Headers(())


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, whatever its status: the caller decides whether a 500 is a failure."""

    status: int
    headers: Headers
    body: bytes
    """The decompressed body."""
    url: str
    """The URL that answered, after redirects."""
    address: str
    """The address that answered."""
    redirects: int
    bytes_sent: int
    """Bytes of the sent bodies, redirects included."""
    bytes_received: int
    """Bytes of the received bodies on the wire, redirects included."""
    ms: float

    def json(self) -> Any:
        """Parses the body as JSON, by the rules for all values from outside."""
        try:
            return values.parse(self.body)
        except InvalidInput as error:
            raise ProtocolError("the answer is not JSON that can be used", why=error.why or error.what) from None
