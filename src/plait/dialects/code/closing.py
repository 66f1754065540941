"""Closing the code of a run that is dropped from memory: from the inside outwards, as Python does, but with patience.

A `finally` may wait for something, and the end of a `TaskGroup` does. Python gives up on such code, with a RuntimeError
that the code around it would take for a failure of its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import CoroutineType
from typing import Any

_PATIENCE = 100


def close(coroutine: Any) -> bool:
    """Whether it has ended: code that catches everything, and waits again, does not."""
    return _close(coroutine, iter(range(_PATIENCE)))


def _close(coroutine: Any, tries: Iterator[int]) -> bool:
    for _ in tries:
        inner = getattr(coroutine, "cr_await", None)
        ended = type(inner) is not CoroutineType or _close(inner, tries)
        with contextlib.suppress(BaseException):  # code in a `finally` may do anything: its run is not here any more
            coroutine.close()
        if getattr(coroutine, "cr_frame", None) is None:
            return ended
    return False
