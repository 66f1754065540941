"""What a patch by an agent may not do, beyond what no patch may: widen what agents may use, change approvals, add more
than a few agents. Such a patch is text that a model wrote, perhaps because its data told it to."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from plait.agents.tools.built_in import DEFAULT_TOOLS
from plait.definitions.flaws import Note
from plait.definitions.hashing import canonical

from .ir import Ir, IrNode
from .limits import MAX_ADDED_AGENTS
from .patch import added_agents

DENIED = "graph.agent_patch_denied"


def agent_flaws(before: Ir, after: Ir, agent: str, already: int) -> Iterator[Note]:
    """`already` is the number of agents that the run's agents have added so far."""
    if already + (count := added_agents(before, after)) > MAX_ADDED_AGENTS:
        what = f"the patch adds {count} agents; agents may add {MAX_ADDED_AGENTS} to a run, and {already} were added"
        yield Note("/nodes", what, "add fewer", DENIED)
    yield from _tools(before, after, agent)
    yield from _approvals(before, after)


def _tools(before: Ir, after: Ir, agent: str) -> Iterator[Note]:
    """An added agent may use at most what the agent that adds it may; existing ones, what they could before."""
    own = _allowed(before.nodes[agent]) if agent in before.nodes else frozenset[str]()
    for id, node in after.nodes.items():
        if node.type != "agent":
            continue
        allowed = own if id not in before.nodes else _allowed(before.nodes[id])
        if more := sorted(_allowed(node) - allowed):
            what = f"the patch lets `{id}` use `{more[0]}`"
            yield Note(f"/nodes/{id}/agent_config/available_tools", what, "leave it out", DENIED)


def _allowed(node: IrNode) -> frozenset[str]:
    named = None if node.agent_config is None else node.agent_config.available_tools
    tools = frozenset(DEFAULT_TOOLS if named is None else named)
    return tools if node.capabilities.allowed_tools is None else tools & frozenset(node.capabilities.allowed_tools)


def _approvals(before: Ir, after: Ir) -> Iterator[Note]:
    """Existing approvals stay unchanged, and no new path bypasses them."""
    for id, node in before.nodes.items():
        if node.type != "human" and not node.capabilities.requires_approval:
            continue
        new = after.nodes.get(id)
        if new is None or _approval(new) != _approval(node):
            yield Note(f"/nodes/{id}", f"the patch changes the approval `{id}`", "leave it as it is", DENIED)
        if node.type == "human":
            yield from _past(before, after, id)


def _approval(node: IrNode) -> bytes:
    ways = sorted(node.dependencies)
    return canonical(msgspec.to_builtins([node.type, node.config, node.human_config, node.capabilities, ways]))


def _past(before: Ir, after: Ir, approval: str) -> Iterator[Note]:
    opened = _without(after, approval) - _without(before, approval)
    for id in sorted(opened & before.nodes.keys()):
        what = f"the patch leads to `{id}` past the approval `{approval}`"
        yield Note(f"/nodes/{id}", what, "begin the new way behind the approval", DENIED)
    for id, node in before.nodes.items():
        if node.wait_for_all and id in after.nodes and not after.nodes[id].wait_for_all:
            what = f"the patch lets `{id}` begin before all have come that it waits for"
            yield Note(f"/nodes/{id}/wait_for_all", what, "leave it as it is", DENIED)


def _without(ir: Ir, approval: str) -> set[str]:
    """The nodes that tokens can reach without passing this node."""
    found: set[str] = set()
    todo = [id for id, node in ir.nodes.items() if not node.dependencies]
    while todo:
        each = todo.pop()
        if each not in found and each != approval:
            found.add(each)
            todo += ir.nodes[each].dependents
    return found
