"""From what a step returned to its outputs: renamed, and where the step says so, made by a script."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from plait.dialects.goals.running.hands import Worked, WorkError
from plait.dialects.goals.steps.attribute import Script
from plait.kernel import values

from . import mapping
from .facts import Facts
from .languages import Languages


class Shaping:
    def __init__(self, languages: Languages) -> None:
        self._languages = languages

    async def worked(self, facts: Facts, raw: dict[str, Any], token: str) -> Worked:
        return await self.later(facts, raw, token) if facts.scripts else self.now(facts, raw)

    def now(self, facts: Facts, raw: dict[str, Any]) -> Worked:
        """The outputs of a step without such scripts."""
        return Worked(mapping.renamed(facts.step, raw) if facts.renames else raw)

    async def later(self, facts: Facts, raw: dict[str, Any], token: str) -> Worked:
        """The outputs of any step. Each script sees all that was returned."""
        outputs = mapping.renamed(facts.step, raw)
        whole = values.encode(raw)
        for name, inner, script in facts.scripts:
            outputs[name] = await mapped(self._languages, script, name, inner, whole, token)
        return Worked(outputs)


async def mapped(languages: Languages, script: Script, name: str, inner: str, value: Raw, token: str) -> Any:
    """The value of an attribute after its script; the script sees it under the inner name, jpath as the document."""
    try:
        if script.language == "jpath":
            return await languages.call("jpath", script.script, (inner,), value, token)
        document = Raw(values.plain({inner: value}))
        return mapping.single(await languages.call(script.language, script.script, (inner,), document, token))
    except WorkError as error:
        raise WorkError(f"mapping of '{name}' failed: {error}", retryable=error.retryable) from None
