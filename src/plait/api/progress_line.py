"""A tool's progress, written as a line of its task's log: people read it there, and a process that relays the call to
its own client parses it."""

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
    """Formats progress as a line; None if it is not finite: a server may send any number."""
    if not math.isfinite(found.progress):
        return None
    total = "" if found.total is None or not math.isfinite(found.total) else f" of {found.total:g}"
    return f"progress {found.progress:g}{total}" + (f": {found.message}" if found.message else "")


def read_progress(line: str) -> Progress | None:
    """Parses a line; None if it is not about progress."""
    read = _LINE.fullmatch(line)
    if read is None:
        return None
    return Progress(float(read[1]), None if read[2] is None else float(read[2]), read[3])
