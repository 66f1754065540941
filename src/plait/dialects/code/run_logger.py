"""`ctx.log`: a logger for workflow functions, which are replayed often but should log each line once."""

from __future__ import annotations

import logging
from typing import Any

from plait.kernel.ids import caller_id

from .scope import Scope

_log = logging.getLogger("plait.workflow")


class RunLogger(logging.LoggerAdapter[logging.Logger]):
    """Silent while recorded results are replayed. Lines start with the run's id and the scope they come from."""

    def __init__(self, scope: Scope) -> None:
        replay = scope.replay
        run_id, info = caller_id(replay.run_id), replay.around.info
        super().__init__(
            _log,
            {"run_id": run_id, "namespace": info.namespace, "workflow": replay.definition.name, "path": scope.path},
        )
        self._replay = replay
        self._prefix = f"run {run_id}, `{scope.path}`: " if scope.path else f"run {run_id}: "

    def isEnabledFor(self, level: int) -> bool:
        replay = self._replay
        return not (replay.replaying or replay.silent) and super().isEnabledFor(level)

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        if not self.isEnabledFor(level):
            return
        prefix = self._prefix.replace("%", "%%") if args else self._prefix
        kwargs["extra"] = {**(self.extra or {}), **(kwargs.get("extra") or {})}
        kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 1  # the caller's line, not this one
        self.logger.log(level, f"{prefix}{msg}", *args, **kwargs)
