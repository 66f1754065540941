"""Tasks of the kind `script`: one script in one of our languages, sandboxed and bounded."""

from __future__ import annotations

from typing import Any, cast, get_args

from plait.kernel.task import Attempt, Task, TaskError
from plait.kernel.task_inputs import SCRIPT, ScriptInput
from plait.scripts.languages import Language, Languages

from .callbacks import CallbackUrls, filled, local_url

_KNOWN: tuple[str, ...] = get_args(Language)


class ScriptExecutor:
    kinds = (SCRIPT,)

    def __init__(self, languages: Languages, callbacks: CallbackUrls = local_url) -> None:
        self._languages = languages
        self._callbacks = callbacks

    async def execute(self, task: Task, attempt: Attempt) -> Any:
        wanted: ScriptInput = task.input
        if wanted.language not in _KNOWN:
            raise TaskError(f"unknown script language '{wanted.language}'", retryable=False)
        language = cast("Language", wanted.language)
        document = filled(wanted.document, wanted.callback, attempt, self._callbacks)
        run = self._languages.holds if wanted.mode == "holds" else self._languages.call
        return await run(language, wanted.script, wanted.names, document, wanted.seed)
