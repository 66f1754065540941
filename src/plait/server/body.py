"""The door for bodies: only JSON, of bounded size, that comes in time, is well-formed and has the right shape."""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import Any, cast

import msgspec
from starlette.types import Message, Receive, Scope

from plait.kernel import values
from plait.kernel.errors import Flaw, InvalidInput

from .errors import BadRequest, BodyTooLarge, NotJson, TooSlow
from .site import Settings

_LARGE = 64 * 1024
"""Bytes above which reading JSON would hold up everyone else: a thread does it."""


_LINGER, _LINGER_BYTES = 1.0, 16 * 1024 * 1024


class Disconnected(Exception):
    """The caller has gone; nobody is there to be answered."""


async def read_body(scope: Scope, receive: Receive, settings: Settings, shape: Any, *, optional: bool) -> Any:
    """The body as a value of its shape. One that is optional may be left out: the shape then has all its defaults."""
    headers: dict[bytes, bytes] = dict(scope["headers"])
    raw = await read_bytes(headers, receive, settings, settings.max_body)
    if not raw and optional:
        return None if shape is Any else shape()
    _must_be_json(headers.get(b"content-type", b""), headers.get(b"content-encoding", b"identity"))
    return fit(await parse_aside(raw), shape)


def _must_be_json(content_type: bytes, encoding: bytes) -> None:
    if encoding.lower() != b"identity":
        raise NotJson("http.not_json", "the body is packed", fix="send it plain, without Content-Encoding")
    kind = content_type.partition(b";")[0].strip().lower()
    if kind != b"application/json" and not (kind.startswith(b"application/") and kind.endswith(b"+json")):
        raise NotJson(
            "http.not_json",
            "the body is not said to be JSON",
            why=f"its Content-Type is {kind.decode('latin-1')[:80]!r}" if kind else "it has no Content-Type",
            fix="send Content-Type: application/json",
        )


async def read_bytes(headers: dict[bytes, bytes], receive: Receive, settings: Settings, limit: int) -> bytes:
    """The body as it came, if it is not over the limit and comes in time."""
    length = headers.get(b"content-length", b"")
    if length.isdigit() and int(length) > limit:
        raise BodyTooLarge(limit)
    message: Message = await _next(receive, settings.body_seconds)
    if not message.get("more_body", False):  # nearly every body comes in one piece
        return _bounded(message.get("body", b""), limit)
    found = bytearray(message.get("body", b""))
    try:
        async with asyncio.timeout(settings.body_seconds):
            while message.get("more_body", False):
                message = await receive()
                _must_be_there(message)
                found += message.get("body", b"")
                _bounded(found, limit)
    except TimeoutError:
        raise _slow(settings.body_seconds) from None
    return bytes(found)


async def _next(receive: Receive, seconds: float) -> Message:
    try:
        async with asyncio.timeout(seconds):
            message = await receive()
    except TimeoutError:
        raise _slow(seconds) from None
    _must_be_there(message)
    return message


def _must_be_there(message: Message) -> None:
    if message["type"] == "http.disconnect":
        raise Disconnected


def _bounded(body: Any, limit: int) -> Any:
    if len(body) > limit:
        raise BodyTooLarge(limit)
    return body


def _slow(seconds: float) -> TooSlow:
    return TooSlow("http.slow_body", f"the body did not come within {seconds:g} s", fix="send it at once")


async def discard(receive: Receive) -> None:
    """Takes a little more of a body that nobody wants: a connection that is closed with unread data is reset, and its
    sender may then never see our answer."""
    seen = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LINGER):
            while seen < _LINGER_BYTES:
                message = await receive()
                seen += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


async def parse_aside(raw: bytes) -> Any:
    """As `parse`, in a thread if it would take long."""
    return await asyncio.to_thread(parse, raw) if len(raw) > _LARGE else parse(raw)


def parse(raw: bytes) -> Any:
    """Strict JSON; says where it is not."""
    try:
        return values.parse(raw.decode())
    except UnicodeDecodeError as error:
        raise malformed(f"byte {error.start} is not UTF-8") from None
    except InvalidInput as error:
        raise malformed(f"{error.what}: {error.why}" if error.why else error.what) from None


def malformed(why: str) -> BadRequest:
    return BadRequest("http.malformed_json", "the body can't be used as JSON", why=why, fix="correct it there")


def fit(value: Any, shape: Any) -> Any:
    """As a value of its shape. `1.0` is a whole number in JSON Schema, and so it is here."""
    for _ in range(_MOST_FLOATS):
        try:
            return msgspec.convert(value, shape)
        except msgspec.ValidationError as error:
            message, _, path = str(error).partition(" - at `")
            where = values.pointer(path.removesuffix("`"))
            if not (_NOT_WHOLE.match(message) and _made_whole(value, where)):
                raise _misfit(message, where) from None
    raise _misfit("too many numbers with a point", "")


def _misfit(message: str, where: str) -> InvalidInput:
    message = _PATTERN.sub("Has not the form that is asked for here", message)
    why = f"{where}: {message}" if where else message
    flaw = Flaw("http.bad_body", where, message)
    return InvalidInput("http.bad_body", "the body has not the right shape", why=why, flaws=[flaw])


def _made_whole(value: Any, where: str) -> bool:
    """Turns a float at the top of the body into the whole number that it is; False if it is none."""
    name = where.removeprefix("/")
    found = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    if not isinstance(found, float) or not found.is_integer():
        return False
    value[name] = int(found)
    return True


_NOT_WHOLE = re.compile(r"Expected `int\b.*, got `float`")
_MOST_FLOATS = 10
_PATTERN = re.compile(r"Expected `str` matching regex .*", re.DOTALL)
"""A regular expression helps nobody who fills in a form."""
