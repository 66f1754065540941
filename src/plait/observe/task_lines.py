"""What a step gives to `logging` is kept with its run, for the page that shows it.

The handler only finds out which attempt speaks and hands the text to the kernel's notebook, which bounds, collects
and writes; a step never waits for its lines.
"""

from __future__ import annotations

import logging

from plait.kernel.store import LineLevel
from plait.kernel.task import current_attempt

from .logs import text_of


class TaskLines(logging.Handler):
    """Installed on the root logger; takes records that are made inside an attempt, in a thread of its too."""

    def install(self) -> None:
        logging.getLogger().addHandler(self)

    def remove(self) -> None:
        logging.getLogger().removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        attempt = current_attempt.get()
        # Ours are about the engine, whoever's context it happens to be in; a line about lost lines must not be a line
        if attempt is None or record.name.partition(".")[0] == "plait":
            return
        try:
            attempt.log(attempt, _level(record.levelno), text_of(record))
        except Exception:
            return  # never into the step


def _level(number: int) -> LineLevel:
    if number >= logging.ERROR:
        return "error"
    if number >= logging.WARNING:
        return "warning"
    return "info" if number >= logging.INFO else "debug"
