"""All hands of the dialect, composed: for each piece of work the call that does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from msgspec import Raw

from plait.dialects.goals.running.hands import Hand, Item, Worked, WorkError
from plait.dialects.goals.steps.step import Step
from plait.kernel import values
from plait.kernel.machine import RunInfo

from . import mapping
from .facts import Facts, FactsBook, Webhooks
from .handlers import Handler, Handlers
from .http import HttpCalls, Send, local_webhook
from .languages import Languages
from .memo import Memo
from .preparing import Preparing, matches
from .python import PythonUndo, PythonWork
from .shaping import Shaping


class GoalsHands:
    """Of one engine. What it was given stays its owner's to close, but for the languages."""

    def __init__(
        self, languages: Languages, send: Send, handlers: Handlers, webhooks: Webhooks = local_webhook
    ) -> None:
        self.languages = languages
        self.handlers = handlers
        self._webhooks = webhooks
        self._shaping = Shaping(languages)
        self._http = HttpCalls(send, webhooks, self._shaping)
        self._facts = FactsBook()
        self._memo = Memo()

    async def close(self) -> None:
        await self.languages.close()

    def prepare(self, run: RunInfo, step: Step, inputs: Mapping[str, Raw]) -> Hand:
        preparing = Preparing(self.languages, step, f"{run.run_id}:{step.id}")
        return Hand(lambda: preparing.ready(inputs))

    def match(self, run: RunInfo, step: Step, name: str, value: Raw) -> Hand:
        script = step.attributes[name].detail.match
        assert script is not None, f"{name} of {step.id} has no match"
        seed = f"{run.run_id}:{step.id}:{name}"
        return Hand(lambda: matches(self.languages, script, name, value, seed))

    def work(self, item: Item) -> Hand:
        facts = self._facts.of(item.step)
        hand, handler = self._hand(item, facts)
        if not item.step.memoizable or item.step.type == "async":
            return hand
        key = facts.functional, handler
        return Hand(self._memo.around(key, lambda: facts.inputs(item, self._webhooks), hand.call), hand.threaded)

    def shape(self, item: Item, outputs: Raw) -> Hand:
        facts = self._facts.of(item.step)
        return Hand(lambda: self._shaping.later(facts, values.decode(outputs) or {}, item.token))

    def undo(self, item: Item, outputs: Raw) -> Hand:
        step, facts = item.step, self._facts.of(item.step)
        if step.http is not None:
            http = step.http
            return Hand(lambda: self._http.undo(item, facts, http, outputs))
        handler = self.handlers.get(step.compensate)
        if handler is None:
            return _refusing(no_handler(step.compensate))
        output = mapping.as_returned(step, values.decode(outputs) or {})
        return Hand(PythonUndo(handler, facts.inputs(item, self._webhooks), output), handler.threaded)

    def lacks(self, step: Step) -> str | None:
        python = step.python
        if python is None:
            return None
        if python.queue:
            return f"{no_handler(python.handler)} on queue `{python.queue}`"
        return no_handler(python.handler) if self.handlers.get(python.handler) is None else None

    def lacks_undo(self, step: Step) -> str | None:
        """The same of its compensator."""
        if step.python is None or not step.compensate or self.handlers.get(step.compensate) is not None:
            return None
        return no_handler(step.compensate)

    def _hand(self, item: Item, facts: Facts) -> tuple[Hand, Handler | None]:
        step = item.step
        if step.python is not None:
            handler = self.handlers.get(step.python.handler)
            if handler is None or step.python.queue:
                return _refusing(self.lacks(step) or ""), None
            return Hand(PythonWork(handler, facts, item, self._webhooks, self._shaping), handler.threaded), handler
        if step.http is not None:
            http = step.http
            return Hand(lambda: self._http.work(item, facts, http)), None
        return Hand(lambda: self._script(item, facts)), None

    async def _script(self, item: Item, facts: Facts) -> Worked:
        script = item.step.script
        assert script is not None, f"{item.step.id} is worked on by a child run"
        inputs = facts.inputs(item, self._webhooks)
        result = await self.languages.call(script.language, script.script, facts.arguments, inputs, item.token)
        return await self._shaping.worked(facts, mapping.named(result), item.token)


def no_handler(name: str) -> str:
    return f"no handler `{name}`"


def _refusing(why: str) -> Hand:
    """For work that this process can't do; another, or this one later, may."""

    def refuse() -> NoReturn:
        raise WorkError(why, retryable=True)

    return Hand(refuse)
