"""Frames on the pipe to the engine: four bytes of length, then the body. An answer starts with a byte for its kind.

    H  the worker is ready          V  the result, as JSON
    P  a line that was printed      E  an error: {"kind", "message"}
                                    X  an error too, after which the worker ends

Lua's printed lines are written by its own `prelude.lua`, in the same form.
"""

from __future__ import annotations

import os

_INPUT = 0
_OUTPUT = 1


def read() -> bytes | None:
    """The next request, or None if the engine is gone."""
    head = _read_exactly(4)
    return None if head is None else _read_exactly(int.from_bytes(head, "big"))


def write(kind: bytes, body: bytes = b"") -> None:
    view = memoryview((len(body) + 1).to_bytes(4, "big") + kind + body)
    while view:
        view = view[os.write(_OUTPUT, view) :]


def _read_exactly(size: int) -> bytes | None:
    chunk = os.read(_INPUT, size)
    if len(chunk) == size:
        return chunk
    parts: list[bytes] = []
    while chunk:
        parts.append(chunk)
        size -= len(chunk)
        if size == 0:
            return b"".join(parts)
        chunk = os.read(_INPUT, size)
    return None
