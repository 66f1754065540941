"""What is worth knowing of a step each time its work is called for, found out once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Raw

from plait.dialects.goals.running.hands import Item
from plait.dialects.goals.steps.attribute import Script
from plait.dialects.goals.steps.step import Step
from plait.kernel import values
from plait.kernel.machine import RunInfo

from . import mapping

Webhooks = Callable[[RunInfo, str, str], str]
"""The address at which a step server reports: of a run, a step, an item."""

_MOST = 8_192
_object = msgspec.json.Decoder(dict[str, Raw])
_sorted = msgspec.json.Encoder(order="sorted")


class Facts:
    """Of one step."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.arguments = step.arguments
        metas = [(name, each.detail.key) for name, each in step.inputs() if each.role == "meta"]
        self._tokens = tuple(name for name, key in metas if key == "receipt_token")
        self._webhooks = tuple(name for name, key in metas if key == "webhook_url")
        self.scripts: tuple[tuple[str, str, Script], ...] = tuple(
            (name, each.inner(name), script)
            for name, each in step.outputs()
            if (script := mapping.script_of(each)) is not None
        )
        """Outputs that a script makes: outer name, inner name, script."""
        self.renames = any(each.detail.mapping is not None for _, each in step.outputs())

    def inputs(self, item: Item, webhooks: Webhooks) -> Raw:
        """The inputs of an item with the ones that only who calls it knows."""
        if not self._tokens and not self._webhooks:
            return item.inputs
        found: dict[str, Any] = dict(_object.decode(item.inputs))
        found |= dict.fromkeys(self._tokens, item.token)
        if self._webhooks:
            found |= dict.fromkeys(self._webhooks, webhooks(item.run, item.step.id, item.token))
        return Raw(values.plain(found))

    @cached_property
    def functional(self) -> bytes:
        """The digest of all that decides what its outputs are; steps that differ in name only have the same."""
        step = self.step
        parts: Any = (step.type, step.attributes, step.script, _called(step))
        return hashlib.sha256(_sorted.encode(parts)).digest()


def _called(step: Step) -> Any:
    if step.http is not None:
        return step.http.endpoint, step.http.method
    return None if step.python is None else (step.python.handler, step.python.queue)


class FactsBook:
    """The facts of the steps seen last. Steps are known by identity: a run has the same ones while it is in memory, and
    what is kept here can't have its address taken by another."""

    def __init__(self) -> None:
        self._known: dict[int, Facts] = {}

    def of(self, step: Step) -> Facts:
        found = self._known.get(id(step))
        if found is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            found = self._known[id(step)] = Facts(step)
        return found
