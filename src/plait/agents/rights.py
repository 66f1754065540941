"""What one agent may use: the intersection of what its node names, what the node is capable of, and what the operators
of its namespace allow."""

from __future__ import annotations

from plait.kernel.task_inputs import AgentInput

from .tools.built_in import DEFAULT_TOOLS
from .tools.names import AllowedTools


def allowed_tools(wanted: AgentInput, by_policy: tuple[str, ...] | None) -> list[str]:
    """References of tools. `by_policy`: None means no limit."""
    lists = (*wanted.limits, *(() if by_policy is None else (by_policy,)))
    named = DEFAULT_TOOLS if wanted.tools is None else wanted.tools
    return [name for name in named if all(name in AllowedTools(each) for each in lists)]
