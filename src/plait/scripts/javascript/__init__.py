"""JavaScript and TypeScript in killable worker processes.

    pool = JavaScriptPool()
    outcome = await pool.run("export default ({ price }) => price * 2", Raw(b'{"price": 21}'))
    outcome.value       # 42
    outcome.printed     # what `console` wrote
    await pool.stop()

A script is a module whose default export is called with the input, and may be async. Types are removed, not checked.
`sandbox` runs in the processes of `plait.scripts.processes`: QuickJS, without imports, timers or network, in a fresh
context for each call.
"""

from __future__ import annotations

from .errors import JavaScriptCrash, JavaScriptError
from .limits import JavaScriptLimits
from .pool import JavaScriptOutcome, JavaScriptPool

__all__ = ["JavaScriptCrash", "JavaScriptError", "JavaScriptLimits", "JavaScriptOutcome", "JavaScriptPool"]
