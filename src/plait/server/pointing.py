"""Where in a request's body something is wrong, when only a part of the body was looked at."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import msgspec

from plait.kernel.errors import PlaitError


@contextmanager
def inside(place: str, *, whole: bool = False) -> Generator[None]:
    """Flaws of what stands at this place of the body, as JSON pointers from its top. `whole`: there are several things
    at that place, and nobody knows which of them it is."""
    try:
        yield
    except PlaitError as error:
        error.flaws = [
            msgspec.structs.replace(flaw, pointer=place if whole else place + flaw.pointer) for flaw in error.flaws
        ]
        raise
