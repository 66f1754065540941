"""Tasks of the kind `script`: one script in one of our languages, sandboxed and bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from plait.kernel.task import Attempt, Task, TaskError
from plait.kernel.task_inputs import SCRIPT, ScriptInput

from .callbacks import CallbackUrls, filled, local_url

if TYPE_CHECKING:
    from plait.scripts.languages import Languages


class HasLanguages(Protocol):
    """The owner of the script languages, which creates them on demand."""

    @property
    def languages(self) -> Languages: ...


class ScriptExecutor:
    kinds = (SCRIPT,)

    def __init__(self, owner: HasLanguages, callbacks: CallbackUrls = local_url) -> None:
        self._owner = owner
        self._callbacks = callbacks

    async def execute(self, task: Task, attempt: Attempt) -> Any:
        from plait.scripts.languages import is_language  # imported with the first script

        wanted: ScriptInput = task.input
        language, languages = wanted.language, self._owner.languages
        if not is_language(language):
            raise TaskError(f"unknown script language '{language}'", retryable=False)
        document = filled(wanted.document, wanted.callback, attempt, self._callbacks)
        run = languages.holds if wanted.mode == "holds" else languages.call
        return await run(language, wanted.script, wanted.names, document, wanted.seed, wanted.timeout)
