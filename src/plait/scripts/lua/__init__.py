"""Lua 5.4 in killable worker processes, for scripts, predicates, `match` and mappings.

    pool = LuaPool()
    outcome = await pool.run("return {total = price * 2}", {"price": 21}, ["price"], token="t1")
    outcome.value       # {"total": 42}
    outcome.printed     # what `print` wrote
    await pool.stop()

The engine's side is `pool` (who runs next), `worker` and `process` (one process), `wire` (its pipe). The side of the
process is `sandbox`. A script that can't be stopped from within is stopped from without: its process is killed.
"""

from __future__ import annotations

from .errors import LuaCompileError, LuaCrash, LuaError, LuaLimitError, LuaResultError, LuaRuntimeError
from .limits import LuaLimits
from .outcome import LuaOutcome
from .pool import LuaPool

__all__ = [
    "LuaCompileError",
    "LuaCrash",
    "LuaError",
    "LuaLimitError",
    "LuaLimits",
    "LuaOutcome",
    "LuaPool",
    "LuaResultError",
    "LuaRuntimeError",
]
