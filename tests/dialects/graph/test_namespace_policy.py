"""What the operators of a namespace allow holds beside what a graph allows itself; a policy server may be asked too."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from typing import Any

import msgspec
import pytest

from plait import Engine, graph, handler
from plait.dialects.graph.bundle import GraphBundle
from plait.dialects.graph.definition.namespace_policy import NamespacePolicy
from plait.dialects.graph.definition.pins import Pins, pinned
from plait.egress import EgressSettings
from plait.errors import PlaitError, RunFailed
from plait.kernel import values
from plait.kernel.errors import ErrorInfo
from plait.kernel.inputs import Patch, TaskResult
from tests.dialects.graph.drawing import branch, drawn, human, rule, task
from tests.dialects.graph.player import Player, everything_here

OPA = {"opa": {"url": "http://opa/v1/data/plait"}}


def under(policy: dict[str, Any], definition: dict[str, Any], bundle: GraphBundle | None = None) -> Player:
    pins = Pins(policy=msgspec.convert(policy, NamespacePolicy))
    player = Player(pinned(definition, pins), bundle=bundle or everything_here())
    player.start({"amount": 5})
    return player


def deny(condition: str) -> dict[str, Any]:
    return {"rules": [{"effect": "deny", "condition": condition}]}


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        (deny("to_node == 'C'"), "rule of the namespace 0 denies it"),
        (deny("input.amount > 'x'"), "can't be judged"),
        ({"rules": [{"effect": "allow", "condition": "user == 'cfo'"}]}, "no rule of the namespace allows it"),
        ({"allowed_transitions": {"A": ["B"]}}, "the policy of the namespace"),
        ({"max_fanout": 1}, "1 tokens at once"),
    ],
)
def test_what_the_namespace_forbids_fails_the_attempt(policy: dict[str, Any], why: str) -> None:
    player = under(policy, drawn("A > B C"))
    player.finish("A")
    [denied] = player.of("policy.denied")
    assert why in denied["message"]
    assert player.status == "failed"
    assert "node.emitted" not in player.types


def test_the_definition_can_not_allow_what_the_namespace_forbids() -> None:
    own = {"rules": [{"effect": "allow", "condition": "true"}]}
    player = under(deny("to_node == 'B'"), drawn("A > B", policy=own))
    player.finish("A")
    assert player.of("policy.denied")


def test_what_is_pinned_can_not_be_patched() -> None:
    player = under(deny("to_node == 'B'"), drawn("A > B"))
    for operation in (
        {"op": "remove", "path": "/$pinned"},
        {"op": "replace", "path": "/$pinned/policy", "value": {}},
        {"op": "move", "from": "/$pinned", "path": "/metadata"},
    ):
        player.give(Patch([operation], "eve"), f"patch{len(player.events)}")
    assert player.types.count("patch.rejected") == 3
    player.finish("A")
    assert player.of("policy.denied")


# -- a policy server, on decisions -------------------------------------------------------------------------------------


def answer(player: Player, result: Any = None, error: str = "") -> dict[str, Any]:
    """The policy server answers; returns what it was asked."""
    opened = next(each for each in player.tasks.values() if each.task.kind == "http")
    player.tasks.pop(opened.task.token)
    told = ErrorInfo("task.failed", error) if error else None
    player.give(TaskResult(opened.task.token, opened.attempt, values.encode(result), told, retryable=False))
    return msgspec.json.decode(opened.task.input.body)["input"]


def test_the_policy_server_is_asked_about_every_target_before_anything_is_emitted() -> None:
    player = under(OPA, drawn("A > B C"))
    player.twice = True
    player.finish("A", {"n": 1})
    assert player.types[1] == "node.executed"
    assert "node.emitted" not in player.types
    asked = answer(player, {"result": True})
    assert (asked["from_node"], asked["to_node"], asked["input"]) == ("A", "B", {"amount": 5})
    player.crash()
    assert answer(player, {"result": {"allow": True}})["to_node"] == "C"
    assert sorted(opened.task.node for opened in player.tasks.values()) == ["B", "C"]
    assert player.of("node.consumed")[0]["output"] == {"n": 1}


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ({"result": False}, "the policy server denies it"),
        ({"result": {"allow": False, "reason": "too late in the day"}}, "too late in the day"),
        ({}, "no `result`"),
        ({"result": "yes"}, "no `result`"),
        ([], "no `result`"),
    ],
)
def test_anything_but_a_clear_yes_denies(result: Any, why: str) -> None:
    player = under(OPA, drawn("A > B"))
    player.finish("A")
    answer(player, result)
    assert why in player.of("policy.denied")[0]["message"]
    assert player.status == "failed"


def test_a_policy_server_that_does_not_answer_denies() -> None:
    player = under(OPA, drawn("A > B"))
    player.finish("A")
    answer(player, error="connection refused")
    assert "connection refused" in player.of("policy.denied")[0]["message"]


def test_what_a_handler_has_chosen_is_kept_while_the_server_is_asked() -> None:
    free = {"type": "agent_driven", "available_next_nodes": ["B", "C"], "default": ["B"]}
    player = under(OPA, drawn("A", task("A", branch=free), task("B"), task("C")))
    player.finish("A", {"plait.route": {"output": 1, "next_nodes": ["C"], "reasoning": "better"}})
    assert answer(player, {"result": True})["to_node"] == "C"
    assert player.of("branch.taken")[0]["next_nodes"] == ["C"]
    assert player.of("branch.taken")[0]["reasoning"] == "better"


def test_a_human_node_asks_the_server_before_it_asks_people() -> None:
    player = under(OPA, drawn("H > B", human("H", rejection_path=["C"]), task("C")))
    assert not player.approvals
    assert answer(player, {"result": False})["to_node"] == "C"
    player.crash()
    assert answer(player, {"result": True})["to_node"] == "B"
    player.crash()
    player.decide("H", "approve")
    assert player.open("B")


def test_a_way_that_the_server_denies_is_not_taken_whatever_people_decide() -> None:
    player = under(OPA, drawn("H > B", human("H")))
    answer(player, {"result": False})
    player.decide("H", "approve")
    assert player.error.code == "graph.policy_denied"


def test_a_way_that_a_patch_adds_after_the_server_was_asked_is_denied() -> None:
    player = under(OPA, drawn("H > B", human("H")))
    answer(player, {"result": True})
    added = [
        {"op": "add", "path": "/nodes/-", "value": task("X")},
        {"op": "add", "path": "/edges/-", "value": {"from": "H", "to": "X"}},
    ]
    player.give(Patch(added, "ann"), "patch")
    player.decide("H", "approve")
    assert "was not asked" in player.error.message


def test_the_end_of_a_path_is_nobodys_business() -> None:
    player = under(OPA, drawn("A", task("A", branch=branch(rule("false", "B"))), task("B")))
    player.finish("A")
    assert player.status == "completed"


# -- on an engine ------------------------------------------------------------------------------------------------------


@handler
async def pass_on(payload: Any) -> Any:
    return payload


@contextlib.asynccontextmanager
async def policy_server(decide: Callable[[dict[str, Any]], Any]) -> AsyncGenerator[str]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(next(line.split(":")[1] for line in head.split("\r\n") if line.startswith("content-length")))
        asked = msgspec.json.decode(await reader.readexactly(length))
        body = msgspec.json.encode(decide(asked["input"]))
        writer.write(f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/data/plait/allow"


def chain() -> Any:
    nodes = [task(each, config={"handler": "pass_on"}, retry={"max_attempts": 1}) for each in "AB"]
    return graph(drawn("A > B", *nodes))


def opened() -> Engine:
    return Engine("memory:", definitions=[pass_on], egress=EgressSettings(private=True))


async def test_a_real_policy_server_decides() -> None:
    async with policy_server(lambda asked: {"result": asked["user"] == "cfo"}) as url, opened() as engine:
        await engine.policies.set({"opa": {"url": url}})
        run = await engine.start(chain(), 7, labels={"user": "cfo"})
        assert await run.result() == {"B": 7}
        with pytest.raises(RunFailed, match="may not emit to `B`"):
            await (await engine.start(chain(), 7, labels={"user": "eve"})).result()


async def test_a_policy_server_that_is_gone_denies() -> None:
    async with policy_server(lambda asked: {"result": True}) as url:
        pass
    async with opened() as engine:
        await engine.policies.set({"opa": {"url": url, "timeout_s": 1}})
        with pytest.raises(RunFailed, match="did not answer"):
            await (await engine.start(chain(), 7)).result()


async def test_a_policy_is_for_runs_that_start_after_it_and_for_its_namespace() -> None:
    async with opened() as engine:
        await engine.policies.set(deny("to_node == 'B'"), "bank")
        assert await (await engine.start(chain(), 7)).result() == {"B": 7}
        with pytest.raises(RunFailed, match="rule of the namespace"):
            await (await engine.start(chain(), 7, namespace="bank")).result()
        await engine.policies.set({}, "bank")
        assert await (await engine.start(chain(), 7, namespace="bank")).result() == {"B": 7}


@pytest.mark.parametrize("policy", [{"rulez": []}, {"rules": [{"effect": "deny", "condition": "1 +"}]}, {"opa": {}}, 7])
async def test_what_is_no_policy_is_refused(policy: Any) -> None:
    async with opened() as engine:
        with pytest.raises(PlaitError) as caught:
            await engine.policies.set(policy)
        assert (caught.value.code, caught.value.status) == ("graph.bad_policy", 422)


@pytest.mark.parametrize(("agents", "most"), [(0, 100), (1, 20), (2, 20), (3, 5)])
def test_the_more_agents_the_fewer_starts(agents: int, most: int) -> None:
    found = NamespacePolicy(start_rate="by_agents").starts_per_minute(agents)
    assert found is not None
    assert found[1] == most


async def test_a_namespace_starts_only_so_many_runs_a_minute() -> None:
    async with opened() as engine:
        await engine.policies.set({"start_rate": {"per_minute": 2}})
        await engine.start(chain(), 1, id="one")
        await engine.start(chain(), 1)
        await engine.start(chain(), 1, id="one")  # is there already
        with pytest.raises(PlaitError) as caught:
            await engine.start(chain(), 1)
        assert (caught.value.code, caught.value.status) == ("kernel.start_rate", 429)
        await engine.start(chain(), 1, namespace="other")
