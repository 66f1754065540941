"""The agents of an engine: the executor that all dialects use, and what it is given. Loaded with the first task."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from plait.agents.auth_profiles import AuthProfile, Given, read_auth_profiles
from plait.agents.executor import AgentExecutor
from plait.agents.model import Model
from plait.agents.models import Models
from plait.definitions.definitions import Definitions
from plait.egress import EgressSettings
from plait.kernel.ids import RunId
from plait.kernel.kernel import Kernel
from plait.kernel.loader import recorded
from plait.kernel.records import Records
from plait.workers.common import CommonExecutors

if TYPE_CHECKING:
    from plait.agents.budgets import Spent
    from plait.agents.call_keys import Place
    from plait.agents.prices import Prices
    from plait.agents.promotion.promotions import Promotions
    from plait.agents.providers.provider_model import ProviderModel
    from plait.agents.services import AgentPolicy, AgentServices
    from plait.agents.tools.delegate import DelegateToAgent
    from plait.agents.tools.tool import Tool
    from plait.agents.watch import AgentWatch

_CONFIGURED = "PLAIT_MODELS"
"""The variable that `plait.agents.providers.settings` reads; without it, that need not be imported."""


class AgentSettings:
    """As a program gives them, and as the operator's file has them; the program's count where both name one."""

    def __init__(
        self,
        models: Mapping[str, Model] | None,
        prices: Mapping[str, Any] | None,
        auth_profiles: Mapping[str, Given] | None,
        delegates: Mapping[str, Any] | None,
        *,
        keep_prompts: bool,
        egress: EgressSettings | None = None,
    ) -> None:
        self.configured: Mapping[str, ProviderModel] = {}
        self.auth_profiles: dict[str, AuthProfile] = {}
        self._prices: Prices | None = None
        if os.environ.get(_CONFIGURED):
            self._read(egress)
        self._given_prices = prices
        self.models = Models(
            {**self.configured, **(models or {})}, () if prices is None and self._prices is None else self.prices.names
        )
        self.auth_profiles |= read_auth_profiles(auth_profiles)
        self.delegates = delegates
        self.keep_prompts = keep_prompts

    @property
    def prices(self) -> Prices:
        from plait.agents.prices import Prices

        given = Prices(self._given_prices)
        return given if self._prices is None else self._prices.merged(given)

    def _read(self, egress: EgressSettings | None) -> None:
        from plait.agents.providers.provider_model import models_of
        from plait.agents.providers.settings import configured

        found = configured(os.environ)
        self.configured = models_of(found, os.environ, egress)
        self.auth_profiles |= found.auth_profiles
        self._prices = found.prices


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
        self.models = settings.models
        self._kernel = kernel
        self._executors = executors
        self._definitions = definitions
        self._records = records
        self._policy = policy
        self.watch: AgentWatch | None = None
        self._registered: list[Tool] = []
        self.executor = AgentExecutor(settings.models, self._services)

    @cached_property
    def promotions(self) -> Promotions:
        """Of pipelines that agents use again and again."""
        from plait.agents.promotion.promotions import Promotions

        return Promotions(self._records, self._kernel.clock)

    def declare(self, definition: object) -> bool:
        """Takes a tool that a program declares."""
        if not all(hasattr(definition, name) for name in ("parameters", "description", "call", "name")):
            return False
        self._registered.append(definition)  # pyright: ignore[reportArgumentType]
        return True

    async def close(self) -> None:
        for model in self._settings.configured.values():
            await model.aclose()
        if "_delegates" in vars(self):
            await self._delegates.close()

    @cached_property
    def _delegates(self) -> DelegateToAgent:
        from plait.agents.tools.delegate import DelegateToAgent

        return DelegateToAgent(self._settings.delegates)

    async def _spent_in(self, run_id: RunId, execution: str | None) -> Spent:
        from plait.agents.spending import spent_in

        return spent_in(await recorded(self._kernel.store, run_id), execution)

    async def _first_calls(self, run_id: RunId, execution: str) -> Mapping[Place, str]:
        from plait.agents.call_keys import first_calls

        return first_calls(await recorded(self._kernel.store, run_id), execution)

    def _services(self) -> AgentServices:
        from plait.agents.daily_budget import DailyBudgets
        from plait.agents.promotion.pipeline_uses import PipelineUses
        from plait.agents.promotion.promoted_tools import PromotedTools
        from plait.agents.services import AgentServices
        from plait.agents.tools.execute_pipeline import PipelineTool
        from plait.agents.tools.openapi.action import OpenapiAction
        from plait.agents.tools.patch_workflow import PatchTool
        from plait.agents.tools.toolbox import RegisteredTools, Toolbox
        from plait.agents.tools.workflow_tool import WorkflowTools
        from plait.workers.mcp.agent_tools import McpTools

        from .agent_patches import AgentPatches

        settings, executors, clock = self._settings, self._executors, self._kernel.clock
        uses = PipelineUses(self.promotions, self._policy)
        pipelines = PipelineTool(executors.send_out, executors.jq, settings.auth_profiles, uses.told)
        uncounted = PipelineTool(executors.send_out, executors.jq, settings.auth_profiles)
        services = AgentServices(
            clock=clock,
            models=settings.models,
            prices=settings.prices,
            keep_prompts=settings.keep_prompts,
            toolbox=Toolbox(
                (
                    RegisteredTools(self._registered),
                    PromotedTools(self.promotions, uncounted.run),
                    McpTools(executors.mcp),
                    WorkflowTools(self._definitions),
                )
            ),
            daily=DailyBudgets(self._records, clock, self._kernel.owner),
            policy=self._policy,
            spent_in=self._spent_in,
            first_calls=self._first_calls,
        )
        if self.watch is not None:
            services.watch = self.watch
        services.built_in["execute_pipeline"] = pipelines
        patches = AgentPatches(self._kernel, self._definitions, self._policy)
        services.built_in["patch_workflow"] = PatchTool(patches)
        services.built_in["openapi_action"] = OpenapiAction(executors.send_out, clock, settings.auth_profiles)
        services.built_in["delegate_to_agent"] = self._delegates
        return services
