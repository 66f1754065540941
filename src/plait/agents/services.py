"""What agents use of their engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from plait.kernel.clock import Clock
from plait.kernel.ids import RunId
from plait.kernel.task_inputs import AgentBudget

from .call_keys import Place
from .ledger import EngineLedger, Ledger
from .models import Models
from .prices import Prices
from .promotion.setting import USES
from .tools.tool import Tool, ToolUse
from .tools.toolbox import Toolbox
from .watch import AgentWatch, NoWatch

Load = Callable[[str], Awaitable[Any]]
"""The value that a reference stands for. Raises `ToolFault`."""


class DataTool(Protocol):
    """Computes on values that the conversation knows by reference; its result becomes another one."""

    async def compute(self, arguments: Mapping[str, Any], use: ToolUse, load: Load) -> Any: ...


class AgentPolicy(Protocol):
    """What the operators of a namespace allow its agents."""

    @property
    def allowed_tools(self) -> tuple[str, ...] | None: ...

    @property
    def auto_apply(self) -> bool:
        """Whether new versions that agents propose are saved without approval."""
        ...

    @property
    def budget(self) -> AgentBudget:
        """The daily budget."""
        ...

    @property
    def promote_after(self) -> int:
        """Uses before a pipeline becomes a tool; 0: never."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPolicy:
    allowed_tools: tuple[str, ...] | None = None
    auto_apply: bool = False
    budget: AgentBudget = field(default_factory=AgentBudget)
    promote_after: int = USES


async def no_policy(namespace: str) -> AgentPolicy:
    return OpenPolicy()


async def no_calls(run_id: RunId, execution: str) -> Mapping[Place, str]:
    return {}


@dataclass(slots=True, kw_only=True)
class AgentServices:
    clock: Clock
    models: Models
    prices: Prices = field(default_factory=Prices)
    toolbox: Toolbox = field(default_factory=lambda: Toolbox(()))
    built_in: dict[str, Tool | DataTool] = field(default_factory=dict[str, "Tool | DataTool"])
    """Those of the five built-in tools that this process has."""
    ledger: Ledger = field(default_factory=EngineLedger)
    policy: Callable[[str], Awaitable[AgentPolicy]] = no_policy
    """The policy of a namespace."""
    first_calls: Callable[[RunId, str], Awaitable[Mapping[Place, str]]] = no_calls
    """Loads the hashes of the calls made by the first attempt of an execution."""
    watch: AgentWatch = field(default_factory=NoWatch)
    keep_prompts: bool = True
