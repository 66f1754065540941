"""One run of code in a worker of the pool. It blocks a thread, and can be ended from another."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from plait.kernel.values import Json

from .cage import Cage
from .failures import error_of
from .limits import PythonLimits

if TYPE_CHECKING:
    from pydantic_monty import Monty, OSPolicy

_NO_WORLD: Final[OSPolicy] = {
    "datetime": datetime(1970, 1, 1, tzinfo=UTC),
    "sleep": "zero",
    "random_start": {"seed": 0},
}


class Run:
    def __init__(
        self, code: str, arguments: Mapping[str, Json], limits: PythonLimits, printed: Callable[[str], None]
    ) -> None:
        self._code = code
        self._arguments = dict(arguments)
        self._limits = limits
        self._printed = printed
        self._pid: int | None = None
        self._ended = False
        self._lock = Lock()
        """Guards the worker's id: a worker that is done with this run may already have another's."""

    def work(self, pool: Monty, cage: Cage) -> Any:
        """The value of the last expression. Raises a `PythonError`."""
        from pydantic_monty import MontyError

        limits: Any = {"max_feed_duration_secs": self._limits.seconds, "max_memory": self._limits.memory}
        try:
            with pool.checkout(script_name="script.py", limits=limits, os_policy=_NO_WORLD) as session:
                cage.limit(session.worker_pid, self._limits.memory)
                self._begin(session.worker_pid)
                try:
                    return session.feed_run(self._code, inputs=self._arguments, print_callback=self._take_printed)
                finally:
                    self._begin(None)
        except (MontyError, OSError) as error:
            raise error_of(error, self._limits) from None

    def end(self) -> None:
        """Kills its worker, whatever it is doing."""
        with self._lock:
            self._ended = True
            self._kill()

    def _begin(self, pid: int | None) -> None:
        with self._lock:
            self._pid = pid
            if self._ended:
                self._kill()

    def _kill(self) -> None:
        if self._pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def _take_printed(self, stream: str, text: str) -> None:
        self._printed(text)
