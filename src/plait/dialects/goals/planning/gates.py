"""Gates: a step with a `match` input demands nothing else until a value has matched, or none can any more.

Planning runs no scripts. What init alone decides is judged before, by whoever wires the dialect, and is passed in as
`Gates`; every other gate is undecided until the run has values for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import msgspec
from msgspec import Raw

from plait.dialects.goals.catalogs.catalog import Catalog
from plait.dialects.goals.steps.attribute import Script
from plait.dialects.goals.steps.ports import Input
from plait.dialects.goals.steps.scripts import CANDIDATE
from plait.scripts.errors import ScriptError
from plait.scripts.languages import Language

GateState = Literal["open", "closed", "undecided"]
_AT_A_TIME = 20
"""Gates judged before the event loop gets a turn."""

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates that init decides."""

    open: frozenset[str] = frozenset()
    """Steps whose matches all hold."""
    closed: frozenset[tuple[str, str]] = frozenset()
    """Pairs of a step and an input of it that can't match."""

    def closed_inputs(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for step_id, name in sorted(self.closed):
            found.setdefault(step_id, []).append(name)
        return found


UNDECIDED = Gates()


@dataclass(frozen=True, slots=True)
class Gate:
    """A `match` whose candidates are in init."""

    step: str
    input: Input
    script: Script
    alone: bool
    """Whether no step of the catalog could add a candidate."""


class Judge(Protocol):
    async def holds(self, language: Language, script: str, names: Sequence[str], document: Raw, seed: str) -> bool: ...


def gates_to_judge(catalog: Catalog, steps: Iterable[str], init: frozenset[str]) -> list[Gate]:
    """The gates of the steps that a plan may reach."""
    found: list[Gate] = []
    for step_id in sorted(steps):
        for each in catalog.graph.ports[step_id].inputs:
            script = catalog.steps[step_id].attributes[each.name].detail.match if each.gate else None
            if script is not None and each.name in init:
                found.append(Gate(step_id, each, script, not catalog.graph.providers(each.name)))
    return found


async def judge(gates: Sequence[Gate], candidates: Mapping[str, Sequence[object]], all: Catalog, by: Judge) -> Gates:
    """What init decides. A script that fails decides nothing: its step reports the failure when it runs."""
    states: dict[tuple[str, str], GateState] = {}
    for number, gate in enumerate(gates, 1):
        if number % _AT_A_TIME == 0:
            await asyncio.sleep(0)
        try:
            verdicts = [await _holds(gate.script, value, by) for value in candidates[gate.input.name]]
        except ScriptError:
            continue
        states[gate.step, gate.input.name] = _state(gate, verdicts)
    return Gates(
        open=frozenset(step for step in {gate.step for gate in gates} if _all_open(all, step, states)),
        closed=frozenset(place for place, state in states.items() if state == "closed"),
    )


async def _holds(script: Script, value: object, by: Judge) -> bool:
    document = Raw(_encode(value if script.language == "jpath" else {CANDIDATE: value}))
    return await by.holds(script.language, script.script, (CANDIDATE,), document, "gate")


def _state(gate: Gate, verdicts: Sequence[bool]) -> GateState:
    match gate.input.collect:
        case "first":  # init replaces the providers
            return "open" if any(verdicts) else "closed"
        case "last" | "some":
            return "undecided" if not gate.alone else "open" if any(verdicts) else "closed"
        case "all":
            return "closed" if not all(verdicts) else "open" if gate.alone else "undecided"
        case "none":
            return "closed" if any(verdicts) else "open" if gate.alone else "undecided"


def _all_open(catalog: Catalog, step_id: str, states: Mapping[tuple[str, str], GateState]) -> bool:
    return all(states.get((step_id, each.name)) == "open" for each in catalog.graph.ports[step_id].inputs if each.gate)
