"""What happens before a step starts: its inputs are mapped, its predicate judges the whole and then each item."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from msgspec import Raw

from plait.dialects.goals.limits import ITEMS
from plait.dialects.goals.running.fanout import PLAIN, Fan, fan_of
from plait.dialects.goals.running.hands import Readied, WorkError
from plait.dialects.goals.steps.attribute import Script
from plait.dialects.goals.steps.scripts import CANDIDATE
from plait.dialects.goals.steps.step import Step
from plait.kernel import values

from . import mapping
from .languages import Languages
from .shaping import mapped

_AT_A_TIME = 20
"""Items judged before others get their turn on the event loop."""


class Preparing:
    """The preparation of one step of one run. `seed` makes its random numbers its own."""

    def __init__(self, languages: Languages, step: Step, seed: str) -> None:
        self._languages = languages
        self._step = step
        self._names = step.arguments
        self._seed = seed

    async def ready(self, given: Mapping[str, Raw]) -> Readied:
        """`given` is by outer name. A script that fails is said, not raised."""
        inputs: dict[str, Raw] = {}
        try:
            inputs = await self._mapped(given)
            run, keep = await self._judged(inputs)
        except WorkError as error:
            return Readied(_plain(inputs), error=str(error))
        return Readied(_plain(inputs), run, keep)

    async def _mapped(self, given: Mapping[str, Raw]) -> dict[str, Raw]:
        found: dict[str, Raw] = {}
        for name, each in self._step.inputs():
            if name not in given:
                continue
            inner, script = each.inner(name), mapping.script_of(each)
            found[inner] = given[name]
            if script is not None:
                token = f"{self._seed}:{name}"
                found[inner] = values.encode(await mapped(self._languages, script, name, inner, given[name], token))
        return found

    async def _judged(self, inputs: dict[str, Raw]) -> tuple[bool, list[int] | None]:
        """Whether the step runs, and which of its items."""
        predicate = self._step.predicate
        if predicate is None:
            return True, None
        fan = fan_of(self._step, inputs)
        if (predicate.scope != "item" or fan is PLAIN) and not await self._holds(inputs, f"{self._seed}:step", ""):
            return False, None
        if predicate.scope == "step" or not 0 < fan.count <= ITEMS or fan is PLAIN:  # too many are refused by who asked
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

    async def _holds(self, inputs: dict[str, Raw], token: str, whose: str) -> bool:
        predicate = self._step.predicate
        assert predicate is not None
        document = Raw(values.plain(inputs))
        try:
            return await self._languages.holds(predicate.language, predicate.script, self._names, document, token)
        except WorkError as error:
            raise WorkError(f"predicate evaluation failed{whose}: {error}", retryable=False) from None


async def matches(languages: Languages, script: Script, name: str, value: Raw, seed: str) -> bool:
    """Whether a candidate of an input is one that the step wants."""
    document = value if script.language == "jpath" else Raw(values.plain({CANDIDATE: value}))
    try:
        return await languages.holds(script.language, script.script, (CANDIDATE,), document, seed)
    except WorkError as error:
        raise WorkError(f"match of '{name}' failed: {error}", retryable=False) from None


def _plain(inputs: dict[str, Raw]) -> dict[str, Any]:
    return {name: values.decode(raw) for name, raw in inputs.items()}
