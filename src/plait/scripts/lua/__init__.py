"""Lua 5.4 in killable worker processes, for scripts, predicates, `match` and mappings.

    pool = LuaPool()
    outcome = await pool.run("return {total = price * 2}", {"price": 21}, ["price"], token="t1")
    outcome.value       # {"total": 42}
    outcome.printed     # what `print` wrote
    await pool.stop()

`sandbox` runs in the processes of `plait.scripts.processes`.
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
