"""The agents of an engine: the executor that all dialects use, and what it is given. Loaded with the first task."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from plait.agents.executor import AgentExecutor
from plait.agents.model import Model
from plait.agents.models import Models
from plait.definitions.definitions import Definitions
from plait.kernel.ids import RunId
from plait.kernel.kernel import Kernel
from plait.kernel.loader import recorded
from plait.kernel.records import Records
from plait.workers.common import CommonExecutors

if TYPE_CHECKING:
    from plait.agents.budgets import Spent
    from plait.agents.promotion.promotions import Promotions
    from plait.agents.promotion.tool_list import ToolList
    from plait.agents.services import AgentPolicy, AgentServices
    from plait.agents.tools.tool import Tool


class AgentSettings:
    """As a program gives them."""

    def __init__(
        self,
        models: Mapping[str, Model] | None,
        prices: Mapping[str, Any] | None,
        auth_profiles: Mapping[str, Mapping[str, str]] | None,
        delegates: Mapping[str, Any] | None,
        *,
        keep_prompts: bool,
    ) -> None:
        self.models = Models(models, prices or ())
        self.prices = prices
        self.auth_profiles = auth_profiles
        self.delegates = delegates
        self.keep_prompts = keep_prompts


class Agents:
    def __init__(
        self,
        settings: AgentSettings,
        kernel: Kernel,
        executors: CommonExecutors,
        definitions: Definitions,
        records: Records,
        policy: Callable[[str], Awaitable[AgentPolicy]],
    ) -> None:
        self._settings = settings
        self._kernel = kernel
        self._executors = executors
        self._definitions = definitions
        self._records = records
        self._policy = policy
        self._registered: list[Tool] = []
        self._promotions: Promotions | None = None
        self.executor = AgentExecutor(settings.models, self._services)

    def declare(self, definition: object) -> bool:
        """Takes a tool that a program declares."""
        if not all(hasattr(definition, name) for name in ("parameters", "description", "call", "name")):
            return False
        self._registered.append(definition)  # pyright: ignore[reportArgumentType]
        return True

    @property
    def tools(self) -> ToolList:
        from plait.agents.promotion.tool_list import ToolList

        return ToolList(self._promoting())

    def _promoting(self) -> Promotions:
        if self._promotions is None:
            from plait.agents.promotion.promotions import Promotions

            self._promotions = Promotions(self._records, self._kernel.clock)
        return self._promotions

    async def _spent_in(self, run_id: RunId, execution: str | None) -> Spent:
        from plait.agents.spending import spent_in

        return spent_in(await recorded(self._kernel.store, run_id), execution)

    def _services(self) -> AgentServices:
        from plait.agents.daily_budget import DailyBudgets
        from plait.agents.prices import Prices
        from plait.agents.promotion.promoted_tools import PromotedTools
        from plait.agents.services import AgentServices
        from plait.agents.tools.execute_pipeline import PipelineTool
        from plait.agents.tools.patch_workflow import PatchTool
        from plait.agents.tools.toolbox import RegisteredTools, Toolbox
        from plait.agents.tools.workflow_tool import WorkflowTools

        from .agent_patches import AgentPatches

        settings, executors, kernel, promotions = self._settings, self._executors, self._kernel, self._promoting()
        pipelines = PipelineTool(executors.send_out, executors.jq, settings.auth_profiles, promotions)
        sources = (
            RegisteredTools(self._registered),
            PromotedTools(promotions, pipelines.run),
            WorkflowTools(self._definitions),
        )
        services = AgentServices(
            clock=kernel.clock,
            models=settings.models,
            prices=Prices(settings.prices),
            keep_prompts=settings.keep_prompts,
            toolbox=Toolbox(sources),
            daily=DailyBudgets(self._records, kernel.clock, kernel.owner),
            policy=self._policy,
            spent_in=self._spent_in,
        )
        services.built_in["execute_pipeline"] = pipelines
        services.built_in["patch_workflow"] = PatchTool(AgentPatches(kernel, self._definitions, self._policy))
        return services
