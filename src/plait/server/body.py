"""Request bodies: JSON only, with limits on size and time, well-formed, and of the expected shape."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from typing import Any, cast

import msgspec
from starlette.types import Receive, Scope, Send

from plait.api.shape import Body
from plait.kernel import json_text, values
from plait.kernel.errors import Flaw, InvalidInput

from .errors import BadRequest, BodyTooLarge, NotJson, TooSlow
from .site import Settings

_REST = 50e-6
"""Seconds to sleep to release the interpreter's lock. After a sleep of zero, this thread would take it back at once."""
_LINGER, _LINGER_BYTES = 1.0, 16 * 1024 * 1024


class Disconnected(Exception):
    """The caller has disconnected; nobody is left to respond to."""


async def read_body(scope: Scope, receive: Receive, settings: Settings, shape: Any, *, optional: bool) -> Any:
    """Returns the body as a value of its shape. A missing optional body is the shape with all its defaults."""
    headers: dict[bytes, bytes] = dict(scope["headers"])
    raw = await read_bytes(headers, receive, settings, settings.max_body)
    if not raw and optional:
        return None if shape is Any else shape()
    if headers.get(b"content-type") != b"application/json" or b"content-encoding" in headers:
        _check_json(headers.get(b"content-type", b""), headers.get(b"content-encoding", b"identity"))
    value = await parse(raw)
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        if isinstance(shape, type) and issubclass(shape, Body) and isinstance(value, dict):
            shape.check_misfit(cast("dict[str, Any]", value))
        return _fit(value, shape, error)


def _check_json(content_type: bytes, encoding: bytes) -> None:
    if encoding.lower() != b"identity":
        raise NotJson("http.not_json", "the body is compressed", fix="send it uncompressed, without Content-Encoding")
    kind = content_type.partition(b";")[0].strip().lower()
    if kind != b"application/json" and not (kind.startswith(b"application/") and kind.endswith(b"+json")):
        raise NotJson(
            "http.not_json",
            "the Content-Type of the body is not JSON",
            why=f"it is {kind.decode('latin-1')[:80]!r}" if kind else "there is no Content-Type",
            fix="send Content-Type: application/json",
        )


async def read_bytes(headers: dict[bytes, bytes], receive: Receive, settings: Settings, limit: int) -> bytes:
    """Returns the raw body; raises if it is over the limit or does not arrive in time."""
    length = headers.get(b"content-length", b"")
    if length.isdigit() and int(length) > limit:
        raise BodyTooLarge(limit)
    seconds, found = settings.body_seconds, bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Disconnected
                found += message.get("body", b"")
                if len(found) > limit:
                    raise BodyTooLarge(limit)
                if not message.get("more_body", False):
                    return bytes(found)
    except TimeoutError:
        raise _slow(seconds) from None


def _slow(seconds: float) -> TooSlow:
    return TooSlow("http.slow_body", f"the body did not arrive within {seconds:g} s", fix="send it faster")


async def send_body(answer: bytes, unread: Receive | None, send: Send) -> None:
    """Sends the body of an answer. If the request's body was refused before it was read to its end, reads on for a
    moment before ending the response: closing a connection with unread data resets it, and the sender may never see
    the answer."""
    if unread is not None:
        await send({"type": "http.response.body", "body": answer, "more_body": True})
        await _discard(unread)
        answer = b""
    await send({"type": "http.response.body", "body": answer})


async def _discard(receive: Receive) -> None:
    seen = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LINGER):
            while seen < _LINGER_BYTES:
                message = await receive()
                seen += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


async def parse(raw: bytes) -> Any:
    """Parses strict JSON; an error says where it is malformed."""
    try:
        if len(raw) > json_text.LONG:
            return await asyncio.to_thread(values.parse, raw.decode(), _rest)
        return values.parse(raw.decode())
    except UnicodeDecodeError as error:
        raise malformed(f"byte {error.start} is not UTF-8") from None
    except InvalidInput as error:
        raise malformed(f"{error.what}: {error.why}" if error.why else error.what) from None


def _rest() -> None:
    """Releases the interpreter's lock for long enough that a waiting thread gets it."""
    time.sleep(_REST)


def malformed(why: str) -> BadRequest:
    return BadRequest("http.malformed_json", "the body is not valid JSON", why=why, fix="correct the JSON")


def _fit(value: Any, shape: Any, error: msgspec.ValidationError) -> Any:
    """Converts again, with floats such as `1.0` as integers: they are integers in JSON Schema, so they are here."""
    for _ in range(_MOST_FLOATS):
        message, _, path = str(error).partition(" - at `")
        where = values.pointer(path.removesuffix("`"))
        if not (_NOT_INTEGER.match(message) and _made_integer(value, where)):
            raise _mismatch(message, where) from None
        try:
            return msgspec.convert(value, shape)
        except msgspec.ValidationError as another:
            error = another
    raise _mismatch("too many integers written as floats", "")


def _mismatch(message: str, where: str) -> InvalidInput:
    message = _PATTERN.sub("Does not match the expected format", message)
    why = f"{where}: {message}" if where else message
    flaw = Flaw("http.bad_body", where, message)
    return InvalidInput("http.bad_body", "the body does not match its schema", why=why, flaws=[flaw])


def _made_integer(value: Any, where: str) -> bool:
    """Replaces an integral float at the top level of the body by its integer; False if it is not integral."""
    name = where.removeprefix("/")
    found = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    if not isinstance(found, float) or not found.is_integer():
        return False
    value[name] = int(found)
    return True


_NOT_INTEGER = re.compile(r"Expected `int\b.*, got `float`")
_MOST_FLOATS = 10
_PATTERN = re.compile(r"Expected `str` matching regex .*", re.DOTALL)
"""Messages to replace: a regular expression does not help someone who fills in a form."""
