"""Progress that a tool reports while it works, as a line of its task's log: people read it there, and whoever relays
the call to a client of its own reads it back, in any process."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_LINE = re.compile(rf"progress ({_NUMBER})(?: of ({_NUMBER}))?(?:: (.*))?", re.ASCII | re.DOTALL)


class Progress(NamedTuple):
    progress: float
    total: float | None = None
    message: str | None = None


def progress_line(found: Progress) -> str | None:
    """None for what is no progress: a server may send any number."""
    if not math.isfinite(found.progress):
        return None
    total = "" if found.total is None or not math.isfinite(found.total) else f" of {found.total:g}"
    return f"progress {found.progress:g}{total}" + (f": {found.message}" if found.message else "")


def read_progress(line: str) -> Progress | None:
    """None for a line that says something else."""
    read = _LINE.fullmatch(line)
    if read is None:
        return None
    return Progress(float(read[1]), None if read[2] is None else float(read[2]), read[3])
