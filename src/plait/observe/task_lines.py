"""Stores what a step logs with `logging` with its run, for the page that shows it.

The handler only finds the current attempt and passes the text to the kernel's task logs, which limit, collect and
write the lines; a step never waits for that.
"""

from __future__ import annotations

import logging

from plait.kernel.store import LineLevel
from plait.kernel.task import current_attempt

from .logs import text_of


class TaskLines(logging.Handler):
    """A handler on the root logger that takes records made inside an attempt, including those from its threads."""

    def install(self) -> None:
        logging.getLogger().addHandler(self)

    def remove(self) -> None:
        logging.getLogger().removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        attempt = current_attempt.get()
        # Our records are about the engine, even in a step's context; one about lost lines must not become a line
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
