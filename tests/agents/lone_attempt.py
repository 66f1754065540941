"""Attempts of an agent without an engine: they keep their journals here, as a run's log would."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from plait.agents.loop import AgentLoop
from plait.agents.models import Models
from plait.agents.prices import Prices
from plait.agents.services import AgentServices
from plait.agents.tools.tool import Tool
from plait.agents.tools.toolbox import RegisteredTools, Toolbox
from plait.kernel import values
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.inputs import KeepEntry
from plait.kernel.task import Attempt, Policy, Task
from plait.kernel.task_inputs import AGENT, AgentInput
from plait.testing import VirtualClock


class LoneAgent:
    """One execution, whose attempts may be begun again and again."""

    def __init__(self, model: Any, *tools: Tool, prices: Any = None, **wanted: Any) -> None:
        self.clock = VirtualClock()
        self.journals: dict[int, tuple[Raw, ...]] = {}
        self.finished: list[Any] = []
        self._model = model
        self._wanted = AgentInput(
            model="m",
            prompt="Work",
            execution="x",
            node_id="a",
            tools=tuple(each.name for each in tools),
            **wanted,
        )
        self.services = AgentServices(
            clock=self.clock,
            models=Models({"m": model}),
            prices=Prices(prices),
            toolbox=Toolbox((RegisteredTools(tools),)),
        )

    async def attempt(self, number: int = 1, run: str = "run") -> Any:
        """What one life of it gives; the next one goes on where it was."""
        task = Task(TaskToken("t"), "agent `a`", AGENT, self._wanted, Policy(), "key")
        attempt = Attempt(
            RunId(run), task, number, values.NULL, lambda *_: None, lambda *_: None, self._keep, self.journal(number)
        )
        return await AgentLoop(self._wanted, task, attempt, self._model, self.services).run()

    def journal(self, number: int = 1) -> tuple[Raw, ...]:
        return self.journals.get(number, ())

    def answered(self, answer: Any, number: int = 1) -> None:
        """What the attempt waited for has come."""
        self.journals[number] = (*self.journal(number), values.encode(answer))

    async def _keep(self, attempt: Attempt, entry: KeepEntry) -> None:
        assert entry.index == len(self.journal(attempt.number))
        self.journals[attempt.number] = (*self.journal(attempt.number), entry.entry)
        self.finished += [each for each in entry.events if hasattr(each, "status")]
