"""Parses server-sent events: from bytes to frames. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Frame:
    event: str
    data: bytes


class Frames:
    """Takes a stream in chunks of any size and returns the complete frames."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> list[Frame]:
        *blocks, self._rest = (self._rest + piece).split(b"\n\n")
        return [frame for block in blocks if (frame := _frame(block)) is not None]


def _frame(block: bytes) -> Frame | None:
    """Parses a frame; None for a heartbeat."""
    event, data = "message", list[bytes]()
    for line in block.split(b"\n"):
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"event":
            event = value.decode()
        elif name == b"data":
            data.append(value)
    return Frame(event, b"\n".join(data)) if data else None
