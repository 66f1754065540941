"""A queue worker's cache: results of calls declared to have equal results for equal arguments."""

from __future__ import annotations

from msgspec import Raw

from plait.kernel.memo import Key, Memo, canonical
from plait.kernel.task_inputs import AgentInput, PythonInput


class WorkerMemo:
    def __init__(self) -> None:
        self._memo = Memo()
        self._asked: dict[str, Key] = {}
        """Keys of the calls in flight, by claim."""

    def known(self, claim: str, call: PythonInput | AgentInput) -> Raw | None:
        """The cached result of an equal call. Agents are never cached."""
        if isinstance(call, AgentInput) or not call.memo:
            return None
        key = self._asked[claim] = call.memo, call.handler, canonical(call.arguments)
        return self._memo.get(key)

    def keep(self, claim: str, output: Raw) -> None:
        if (key := self._asked.get(claim)) is not None:
            self._memo.keep(key, output)

    def forget(self, claim: str) -> None:
        self._asked.pop(claim, None)
