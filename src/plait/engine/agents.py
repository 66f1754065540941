"""The agents of an engine: the executor shared by all dialects, and its settings. Loaded with the first task."""

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
from plait.kernel.task import Task
from plait.workers.common import CommonExecutors

if TYPE_CHECKING:
    from plait.agents.call_keys import Place
    from plait.agents.desk import AgentDesk
    from plait.agents.ledger import EngineLedger
    from plait.agents.prices import Prices
    from plait.agents.promotion.promotions import Promotions
    from plait.agents.providers.provider_model import ProviderModel
    from plait.agents.services import AgentPolicy, AgentServices, DataTool
    from plait.agents.tools.delegate import DelegateToAgent
    from plait.agents.tools.execute_pipeline import PipelineTool, Used
    from plait.agents.tools.tool import Tool
    from plait.agents.watch import AgentWatch

    from .agent_attempts import AgentAttempts
    from .agent_jobs import AgentJobs
    from .queues import Queues

_CONFIGURED = "PLAIT_MODELS"
"""The variable that `plait.agents.providers.settings` reads; if it is unset, that need not be imported."""


class AgentSettings:
    """Agent settings of the program and of the operator's file; the program's take precedence."""

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
        self.executor = AgentExecutor(settings.models, lambda task: self._services)

    @cached_property
    def promotions(self) -> Promotions:
        """Promotions of pipelines that agents use repeatedly."""
        from plait.agents.promotion.promotions import Promotions

        return Promotions(self._records, self._kernel.clock)

    def declare(self, definition: object) -> bool:
        """Registers a tool that a program declares; False if it is not one."""
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

    @cached_property
    def attempts(self) -> AgentAttempts:
        """Requests by agents that run in other processes."""
        from .agent_attempts import AgentAttempts

        return AgentAttempts(self._kernel, self._services, self._ledger, self.promotions, self._definitions)

    async def _first_calls(self, run_id: RunId, execution: str) -> Mapping[Place, str]:
        from plait.agents.call_keys import first_calls

        return first_calls(await recorded(self._kernel.store, run_id), execution)

    def jobs(self, queues: Queues) -> AgentJobs:
        """Agents as jobs for workers on Redis."""
        from .agent_jobs import AgentJobs

        settings = self._settings
        return AgentJobs(self._kernel, queues, self.attempts, settings.prices, keep_prompts=settings.keep_prompts)

    def remote_executor(self, desk: AgentDesk) -> AgentExecutor:
        """An executor for agents of another engine, with the models and tools of this process, without access to its
        database."""
        return AgentExecutor(self._settings.models, lambda task: self._remote_services(task, desk))

    @cached_property
    def _ledger(self) -> EngineLedger:
        from plait.agents.daily_budget import DailyBudgets
        from plait.agents.ledger import EngineLedger

        from .agent_spending import RunSpending

        kernel = self._kernel
        daily = DailyBudgets(self._records, kernel.clock, kernel.owner)
        return EngineLedger(RunSpending(kernel.store).spent_in, daily)

    @cached_property
    def _services(self) -> AgentServices:
        from plait.agents.promotion.pipeline_uses import PipelineUses
        from plait.agents.promotion.promoted_tools import PromotedTools
        from plait.agents.services import AgentServices
        from plait.agents.tools.patch_workflow import PatchTool
        from plait.agents.tools.toolbox import RegisteredTools, Toolbox
        from plait.agents.tools.workflow_tool import WorkflowTools
        from plait.workers.mcp.agent_tools import McpTools

        from .agent_patches import AgentPatches

        sources = (
            RegisteredTools(self._registered),
            PromotedTools(self.promotions, self._pipelines().run),
            McpTools(self._executors.mcp),
            WorkflowTools(self._definitions),
        )
        services = AgentServices(
            clock=self._kernel.clock,
            models=self._settings.models,
            prices=self._settings.prices,
            keep_prompts=self._settings.keep_prompts,
            toolbox=Toolbox(sources),
            built_in=dict(self._shared_tools),
            ledger=self._ledger,
            policy=self._policy,
            first_calls=self._first_calls,
        )
        if self.watch is not None:
            services.watch = self.watch
        services.built_in["execute_pipeline"] = self._pipelines(PipelineUses(self.promotions, self._policy).told)
        patches = AgentPatches(self._kernel, self._definitions, self._policy)
        services.built_in["patch_workflow"] = PatchTool(patches)
        return services

    def _remote_services(self, task: Task, desk: AgentDesk) -> AgentServices:
        from plait.agents.remote import RemoteAttempt
        from plait.agents.services import AgentServices
        from plait.agents.tools.patch_workflow import PatchTool
        from plait.agents.tools.toolbox import RegisteredTools, Toolbox
        from plait.api.claim_id import namespace_of
        from plait.workers.mcp.agent_tools import McpTools

        clock, pipelines = self._kernel.clock, self._pipelines()
        attempt = RemoteAttempt(desk, task.token, namespace_of(task.token), clock, pipelines.run)
        own: dict[str, Tool | DataTool] = {"patch_workflow": PatchTool(attempt), "execute_pipeline": pipelines}
        return AgentServices(
            clock=clock,
            models=self._settings.models,
            prices=self._settings.prices,
            keep_prompts=self._settings.keep_prompts,
            toolbox=Toolbox((RegisteredTools(self._registered), attempt, McpTools(self._executors.mcp))),
            built_in=self._shared_tools | own,
            ledger=attempt,
            policy=attempt.policy,
            first_calls=attempt.first_calls,
        )

    @cached_property
    def _shared_tools(self) -> dict[str, Tool | DataTool]:
        """The built-in tools that need neither runs nor pipelines."""
        from plait.agents.tools.openapi.action import OpenapiAction

        send_out, profiles = self._executors.send_out, self._settings.auth_profiles
        return {
            "openapi_action": OpenapiAction(send_out, self._kernel.clock, profiles),
            "delegate_to_agent": self._delegates,
        }

    def _pipelines(self, used: Used | None = None) -> PipelineTool:
        """The pipeline tool; `used` is called after each pipeline, if given."""
        from plait.agents.tools.execute_pipeline import PipelineTool

        executors, profiles = self._executors, self._settings.auth_profiles
        if used is None:
            return PipelineTool(executors.send_out, executors.jq, profiles)
        return PipelineTool(executors.send_out, executors.jq, profiles, used)
