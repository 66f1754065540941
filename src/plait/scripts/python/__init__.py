"""Python in killable worker processes, for conditions and scripts that nobody trusts.

    sandbox = PythonSandbox()
    await sandbox.run("a + b", {"a": 1, "b": 2})     # 3: the value of the last expression
    await sandbox.stop()

The interpreter is Monty: a Python of its own, without files, network or clock, in processes that its pool starts, kills
and replaces. Code that can't be stopped from within is stopped from without: its process is killed.
"""

from __future__ import annotations

from .errors import PythonError
from .limits import PythonLimits
from .sandbox import PythonSandbox

__all__ = ["PythonError", "PythonLimits", "PythonSandbox"]
