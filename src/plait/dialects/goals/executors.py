"""Tasks for a step's groups of scripts: those before it starts, and those on the output of an item."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from msgspec import Raw

from plait.kernel import values
from plait.kernel.task import Attempt, Task
from plait.scripts.errors import ScriptError
from plait.scripts.languages import Languages

from .limits import ITEMS
from .running.fanout import PLAIN, Fan, fan_of
from .running.tasks import MAP_OUTPUTS, PREPARE_STEP, MapOutputsInput, Prepared, PrepareInput
from .steps.attribute import Script
from .steps.mapping import script_of, single
from .steps.step import Step

_AT_A_TIME = 20
"""Items judged before the event loop gets a turn."""


class StepScriptsExecutor:
    kinds = (PREPARE_STEP, MAP_OUTPUTS)

    def __init__(self, languages: Languages) -> None:
        self._languages = languages

    async def execute(self, task: Task, attempt: Attempt) -> Prepared | dict[str, Any]:
        if task.kind == PREPARE_STEP:
            prepare = cast("PrepareInput", task.input)
            return await _Preparation(self._languages, prepare.step, prepare.seed).prepared(prepare.inputs)
        return await self._outputs(cast("MapOutputsInput", task.input))

    async def _outputs(self, wanted: MapOutputsInput) -> dict[str, Any]:
        return {
            name: await _mapped(self._languages, script, name, inner, wanted.returned, wanted.seed)
            for name, inner, script in wanted.scripts
        }


class _Preparation:
    """The preparation of one step of a run: maps its inputs, then judges its predicate as a whole or for each item."""

    def __init__(self, languages: Languages, step: Step, seed: str) -> None:
        self._languages = languages
        self._step = step
        self._names = step.arguments
        self._seed = seed

    async def prepared(self, given: Mapping[str, Raw]) -> Prepared:
        """`given` is by outer name. A failed script is reported in the result, so that it is recorded."""
        inputs: dict[str, Raw] = {}
        try:
            inputs = await self._inputs(given)
            run, keep = await self._judged(inputs)
        except ScriptError as error:
            return Prepared(Raw(values.plain(inputs)), error=str(error))
        return Prepared(Raw(values.plain(inputs)), run, keep)

    async def _inputs(self, given: Mapping[str, Raw]) -> dict[str, Raw]:
        found: dict[str, Raw] = {}
        for name, each in self._step.inputs():
            if name not in given:
                continue
            inner, script = each.inner(name), script_of(each)
            found[inner] = given[name]
            if script is not None:
                seed = f"{self._seed}:{name}"
                found[inner] = values.encode(await _mapped(self._languages, script, name, inner, given[name], seed))
        return found

    async def _judged(self, inputs: dict[str, Raw]) -> tuple[bool, list[int] | None]:
        """Whether the step runs, and which of its items."""
        predicate = self._step.predicate
        if predicate is None:
            return True, None
        fan = fan_of(self._step, inputs)
        if (predicate.scope != "item" or fan is PLAIN) and not await self._holds(inputs, f"{self._seed}:step", ""):
            return False, None
        if predicate.scope == "step" or not 0 < fan.count <= ITEMS or fan is PLAIN:  # the caller refuses too many items
            return True, None
        return True, await self._kept(fan, inputs)

    async def _kept(self, fan: Fan, inputs: dict[str, Raw]) -> list[int]:
        kept: list[int] = []
        for place in range(fan.count):
            if place % _AT_A_TIME == _AT_A_TIME - 1:
                await asyncio.sleep(0)
            if await self._holds(fan.inputs(place, inputs), f"{self._seed}:{place}", f" for item {place + 1}"):
                kept.append(place)
        return kept

    async def _holds(self, inputs: dict[str, Raw], seed: str, whose: str) -> bool:
        predicate = self._step.predicate
        assert predicate is not None
        document = Raw(values.plain(inputs))
        try:
            return await self._languages.holds(predicate.language, predicate.script, self._names, document, seed)
        except ScriptError as error:
            raise ScriptError(f"predicate evaluation failed{whose}: {error}", retryable=False) from None


async def _mapped(languages: Languages, script: Script, name: str, inner: str, value: Raw, seed: str) -> Any:
    """The value of an attribute after its script, which gets it under the inner name, or, in jpath, as the document."""
    try:
        if script.language == "jpath":
            return await languages.call("jpath", script.script, (inner,), value, seed)
        document = Raw(values.plain({inner: value}))
        return single(await languages.call(script.language, script.script, (inner,), document, seed))
    except ScriptError as error:
        raise ScriptError(f"mapping of '{name}' failed: {error}", retryable=error.retryable) from None
