"""How far the heap of this process has grown since a script began.

QuickJS needs memory to report that it has none: without any left, it throws `null` in place of an error, and by the
time that is caught, the script's memory is free again. The C library knows better: its heap, which we keep from
shrinking by itself, stays at its largest size. Only glibc reports this; elsewhere `null` stays `null`.
"""

from __future__ import annotations

import ctypes
from typing import Any

_TRIM_THRESHOLD = -1
_MMAP_MAX = -4
_NEVER = 2**31 - 1
_SLACK = 512 * 1024
"""Bytes used by a context before its script is loaded, and a share of a page."""


class _Mallinfo2(ctypes.Structure):
    arena: int
    """Bytes of the heap, used or not."""
    used: int
    _fields_ = [
        (name, ctypes.c_size_t) for name in ("arena", *(f"_{number}" for number in range(6)), "used", "_7", "_8")
    ]


class Heap:
    def __init__(self) -> None:
        self._libc: Any = ctypes.CDLL(None)
        self._known = hasattr(self._libc, "mallinfo2")
        self._used = 0
        if self._known:
            self._libc.mallinfo2.restype = _Mallinfo2

    def remember(self) -> None:
        """From here on the heap never shrinks, and nothing is allocated outside of it: for a process that only runs
        scripts."""
        if self._known:
            self._libc.mallopt(_MMAP_MAX, 0)
            self._libc.mallopt(_TRIM_THRESHOLD, _NEVER)

    def trim(self) -> None:
        """Returns the memory of the last script to the system."""
        if self._known:
            self._libc.malloc_trim(0)

    def begin(self) -> None:
        """Called when a script begins."""
        if self._known:
            self._used = self._libc.mallinfo2().used

    def reached(self, memory: int) -> bool:
        """Whether the script used this many bytes at once."""
        return self._known and self._libc.mallinfo2().arena - self._used >= memory - _SLACK
