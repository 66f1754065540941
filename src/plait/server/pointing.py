"""Where in a request's body something is wrong, when only a part of the body was looked at."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import msgspec

from plait.kernel.errors import PlaitError


@contextmanager
def inside(place: str) -> Generator[None]:
    """Flaws of what stands at this place of the body, as JSON pointers from its top."""
    try:
        yield
    except PlaitError as error:
        error.flaws = [msgspec.structs.replace(flaw, pointer=place + flaw.pointer) for flaw in error.flaws]
        raise
