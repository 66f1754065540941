"""Python in killable worker processes, for untrusted conditions and scripts.

    sandbox = PythonSandbox()
    await sandbox.run("a + b", {"a": 1, "b": 2})     # 3: the value of the last expression
    await sandbox.stop()

The interpreter is Monty: a separate Python implementation without files, network or clock, in processes that its pool
starts, kills and replaces. Code that can't be stopped from inside is stopped from outside: its process is killed.
"""

from __future__ import annotations

from .errors import PythonError
from .limits import PythonLimits
from .sandbox import PythonSandbox

__all__ = ["PythonError", "PythonLimits", "PythonSandbox"]
