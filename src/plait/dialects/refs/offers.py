"""What steps name and this process does not have. Tools of MCP servers and functions only cause warnings: another
process may do the work, or a server may start later. Models without prices cause a refusal."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, Protocol

from plait.agents.agent_step import UNPRICED_FIX
from plait.agents.models import Models
from plait.definitions.flaws import InvalidDefinition, Note
from plait.kernel.errors import PlaitError
from plait.kernel.task import TaskError

from .definition.action import Action
from .definition.compile import INVALID
from .definition.plan import Plan
from .running.children import CREATE_TOOLS

_SECONDS: Final = 5.0
"""For all servers together; one that hangs must not delay saving a workflow."""


class Functions(Protocol):
    @property
    def names(self) -> Collection[str]: ...


class Tools(Protocol):
    async def find(self, tool: str, servers: Sequence[str] | None = None) -> Any:
        """Looks up a tool; raises a failure that says why it does not exist."""
        ...


class Offers(Protocol):
    @property
    def functions(self) -> Functions: ...

    @property
    def mcp(self) -> Tools: ...


async def not_offered(plan: Plan, offers: Offers) -> list[Note]:
    actions = [*_actions(plan)]
    found = [
        Note(f"{pointer}/function", f'Step "{step}": no function "{action.name}" is registered here', "", "no_function")
        for pointer, step, action in actions
        if action.kind == "function" and action.name not in offers.functions.names
    ]
    wanted = [each for each in actions if each[2].kind == "tool" and each[2].name not in CREATE_TOOLS]
    reasons = await _reasons({action.name for _, _, action in wanted}, plan.servers, offers.mcp)
    for pointer, step, action in wanted:
        if why := reasons.get(action.name):
            found.append(Note(f"{pointer}/toolName", f'Step "{step}": {why[0].rstrip(".")}', "", why[1]))
    return found


def check_prices(plan: Plan, models: Models) -> None:
    """Refuses agents whose budget in USD can't be enforced."""
    notes = [
        Note(f"{pointer}/agent/max_cost_usd", f'Step "{step}" {what}', UNPRICED_FIX, "unpriced_model")
        for pointer, step, action in _actions(plan)
        if action.agent is not None and (what := action.agent.unpriced(models))
    ]
    if notes:
        raise InvalidDefinition(INVALID, notes)


def _actions(plan: Plan) -> Iterable[tuple[str, str, Action]]:
    for step, action in plan.actions:
        place = "action" if action is step.action else "compensate/action"
        yield f"/steps/{step.position}/{place}", step.name, action


async def _reasons(tools: Collection[str], servers: Sequence[str] | None, mcp: Tools) -> dict[str, tuple[str, str]]:
    """For each tool that can't be called: the reason and its code."""
    reasons: dict[str, tuple[str, str]] = {}
    if not tools:
        return reasons
    try:
        async with asyncio.timeout(_SECONDS):
            for tool in sorted(tools):
                try:
                    await mcp.find(tool, servers)
                except TaskError as error:
                    reasons[tool] = str(error), error.code
    except TimeoutError:
        pass  # nothing is known of the rest
    except PlaitError as error:  # the MCP SDK is not installed
        return dict.fromkeys(tools, (error.text, error.code))
    return reasons
