"""The agents of an engine: the executor that all dialects use, and what it is given. Loaded with the first task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from plait.agents.executor import AgentExecutor
from plait.agents.model import Model
from plait.agents.models import Models
from plait.definitions.definitions import Definitions
from plait.kernel.kernel import Kernel
from plait.workers.common import CommonExecutors

if TYPE_CHECKING:
    from plait.agents.services import AgentServices
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
        self.models = Models(models)
        self.prices = prices
        self.auth_profiles = auth_profiles
        self.delegates = delegates
        self.keep_prompts = keep_prompts


class Agents:
    def __init__(
        self, settings: AgentSettings, kernel: Kernel, executors: CommonExecutors, definitions: Definitions
    ) -> None:
        self._settings = settings
        self._kernel = kernel
        self._executors = executors
        self._definitions = definitions
        self._registered: list[Tool] = []
        self.executor = AgentExecutor(settings.models, self._services)

    def declare(self, definition: object) -> bool:
        """Takes a tool that a program declares."""
        if not all(hasattr(definition, name) for name in ("parameters", "description", "call", "name")):
            return False
        self._registered.append(definition)  # pyright: ignore[reportArgumentType]
        return True

    def _services(self) -> AgentServices:
        from plait.agents.prices import Prices
        from plait.agents.services import AgentServices
        from plait.agents.tools.execute_pipeline import PipelineTool
        from plait.agents.tools.toolbox import RegisteredTools, Toolbox
        from plait.agents.tools.workflow_tool import WorkflowTools

        settings = self._settings
        services = AgentServices(
            clock=self._kernel.clock,
            models=settings.models,
            prices=Prices(settings.prices),
            keep_prompts=settings.keep_prompts,
            toolbox=Toolbox((RegisteredTools(self._registered), WorkflowTools(self._definitions))),
        )
        executors = self._executors
        services.built_in["execute_pipeline"] = PipelineTool(executors.send_out, executors.jq, settings.auth_profiles)
        return services
