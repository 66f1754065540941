"""The subset of BARE that entries need: https://baremessages.org. Integers are little-endian."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")


class Writer:
    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def bytes(self) -> bytes:
        return b"".join(self._parts)

    def fixed(self, value: int, size: int) -> None:
        """Writes an unsigned integer of that many bytes."""
        self._parts.append(value.to_bytes(size, "little"))

    def uint(self, value: int) -> None:
        """Writes an unsigned integer of variable length; also the tag of a union, an enum, and a count."""
        while value >= 0x80:
            self._parts.append(bytes([value & 0x7F | 0x80]))
            value >>= 7
        self._parts.append(bytes([value]))

    def data(self, value: bytes) -> None:
        self.uint(len(value))
        self._parts.append(value)

    def text(self, value: str) -> None:
        self.data(value.encode())

    def optional(self, value: T | None, write: Callable[[T], None]) -> None:
        self.fixed(value is not None, 1)
        if value is not None:
            write(value)

    def list(self, values: Iterable[T], write: Callable[[T], None]) -> None:
        found = [*values]
        self.uint(len(found))
        for value in found:
            write(value)

    def map(self, values: Mapping[str, T], write: Callable[[T], None]) -> None:
        self.uint(len(values))
        for key, value in values.items():
            self.text(key)
            write(value)


class Reader:
    def __init__(self, message: bytes) -> None:
        self._message = message
        self._at = 0

    def fixed(self, size: int) -> int:
        return int.from_bytes(self._take(size), "little")

    def uint(self) -> int:
        value = shift = 0
        while True:
            byte = self.fixed(1)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def data(self) -> bytes:
        return self._take(self.uint())

    def text(self) -> str:
        return self.data().decode()

    def optional(self, read: Callable[[], T]) -> T | None:
        return read() if self.fixed(1) else None

    def list(self, read: Callable[[], T]) -> list[T]:
        return [read() for _ in range(self.uint())]

    def map(self, read: Callable[[], T]) -> dict[str, T]:
        return {self.text(): read() for _ in range(self.uint())}

    def _take(self, size: int) -> bytes:
        found = self._message[self._at : self._at + size]
        if len(found) < size:
            raise ValueError(f"the message ends after {len(self._message)} bytes")
        self._at += size
        return found
