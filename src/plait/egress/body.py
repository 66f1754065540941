"""Reads bodies of answers under a limit: as received, and again after decompression.

Decompression works in small pieces, each counted before the next is made, so that a bomb costs one piece more than
the limit and not its full size.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterable, Iterator
from typing import Protocol

from .errors import AnswerTooLarge, ProtocolError
from .messages import Headers

_PIECE = 64 * 1024


class Meter:
    """Counts the bytes of bodies, over all hops of a request."""

    def __init__(self) -> None:
        self.sent = 0
        self.received = 0


async def read_body(stream: AsyncIterable[bytes], headers: Headers, *, limit: int, meter: Meter) -> bytes:
    """Reads the whole body, decompressed."""
    _refuse_early(headers, limit)
    decoder = _decoder(headers)
    parts: list[bytes] = []
    raw = size = 0
    async for chunk in stream:
        raw += len(chunk)
        meter.received += len(chunk)
        if raw > limit:
            raise _too_large(limit)
        for piece in decoder.decode(chunk):
            size += len(piece)
            if size > limit:
                raise _too_large(limit)
            parts.append(piece)
            if len(piece) == _PIECE:
                await asyncio.sleep(0)  # lets other tasks run while a large body is decompressed
    decoder.finish()
    return b"".join(parts)


class _Decoder(Protocol):
    def decode(self, chunk: bytes) -> Iterator[bytes]: ...

    def finish(self) -> None: ...


class _Identity:
    def decode(self, chunk: bytes) -> Iterator[bytes]:
        yield chunk

    def finish(self) -> None:
        pass


class _Zlib:
    """gzip (also of several members) and deflate, which servers send with or without zlib's header."""

    def __init__(self, encoding: str) -> None:
        self._bits = [16 + zlib.MAX_WBITS] if encoding != "deflate" else [zlib.MAX_WBITS, -zlib.MAX_WBITS]
        self._inflate = zlib.decompressobj(self._bits[0])
        self._begun = False

    def decode(self, chunk: bytes) -> Iterator[bytes]:
        while chunk:
            if self._inflate.eof:
                self._inflate = zlib.decompressobj(self._bits[0])
            piece = self._inflated(chunk)
            chunk = self._inflate.unused_data if self._inflate.eof else self._inflate.unconsumed_tail
            if piece:
                yield piece

    def finish(self) -> None:
        if self._begun and not self._inflate.eof:
            raise ProtocolError("the answer's compressed body ends too early")

    def _inflated(self, chunk: bytes) -> bytes:
        try:
            piece = self._inflate.decompress(chunk, _PIECE)
        except zlib.error as error:
            if self._begun or len(self._bits) == 1:
                raise ProtocolError("the answer's body is not compressed as it says", why=str(error)) from None
            self._bits = self._bits[1:]
            self._inflate = zlib.decompressobj(self._bits[0])
            return self._inflated(chunk)
        self._begun = True
        return piece


def _decoder(headers: Headers) -> _Decoder:
    encoding = headers.get("content-encoding", "").strip().lower()
    match encoding:
        case "" | "identity":
            return _Identity()
        case "gzip" | "x-gzip" | "deflate":
            return _Zlib(encoding)
        case _:
            raise ProtocolError(
                "the answer is encoded in a way that was not asked for", why=f"Content-Encoding: {encoding[:100]}"
            )


def _refuse_early(headers: Headers, limit: int) -> None:
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length[:19]) > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> AnswerTooLarge:
    return AnswerTooLarge(
        "the answer is too large",
        why=f"its body has more than {limit:,} bytes",
        fix="ask for less, or ask the operator to raise max_response_bytes",
    )
