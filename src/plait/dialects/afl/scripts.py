"""Scripts of a program: Python in the sandbox, with `params`, `result` and `json`, and a few modules to import."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final, Protocol

from plait.kernel import values
from plait.kernel.errors import PlaitError
from plait.kernel.task import Attempt, Task, TaskError

from .running.limits import SCRIPT_MEMORY, SCRIPT_RESULT, SCRIPT_SECONDS
from .running.work import RUN_SCRIPT, ScriptRun

if TYPE_CHECKING:
    from plait.scripts.languages import Languages

MODULES: Final = frozenset(
    (
        *("json", "math", "re", "copy", "hashlib", "collections"),
        *("itertools", "functools", "datetime", "statistics", "string"),
    )
)
_PROLOGUE: Final = "import json\n"
_EPILOGUE: Final = "\nresult"
_MAX_LINES: Final = 1_000


class HasLanguages(Protocol):
    """Has the script languages, and creates them on demand."""

    @property
    def languages(self) -> Languages: ...


class ScriptExecutor:
    kinds = (RUN_SCRIPT,)

    def __init__(self, owner: HasLanguages) -> None:
        self._owner = owner

    async def execute(self, task: Task, attempt: Attempt) -> Any:
        from plait.scripts.python import PythonError, PythonLimits  # imported with the first script

        wanted: ScriptRun = task.input
        check_imports(wanted.code)
        printed: list[str] = []
        arguments: dict[str, Any] = {"params": values.decode(wanted.params), "result": {}}
        limits = PythonLimits(SCRIPT_SECONDS, SCRIPT_MEMORY)
        sandbox = self._owner.languages.python
        try:
            found = await sandbox.run(f"{_PROLOGUE}{wanted.code}{_EPILOGUE}", arguments, limits, printed.append)
            return values.decode(values.encode(found, max_bytes=SCRIPT_RESULT))
        except PythonError as error:
            line = f"line {error.line - 1}: " if error.line > 1 else ""
            again = error.kind in ("crashed", "unavailable")
            raise TaskError(f"{line}{error.told or error.message}", retryable=again) from None
        except PlaitError as error:
            raise TaskError(error.what, retryable=False) from None
        finally:
            for text in "".join(printed).splitlines()[:_MAX_LINES]:
                attempt.log(attempt, "info", text)


def check_imports(code: str) -> None:
    """Raises `TaskError` if a script imports a module that is not allowed."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise TaskError(f"the script can't be read: {error}", retryable=False) from None
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
        for name in names:
            if name.partition(".")[0] not in MODULES:
                raise TaskError(f"line {node.lineno}: `{name}` can't be imported by a script", retryable=False)
