"""Random graphs: the machine and a small interpreter come to the same, whatever the order, crashes and duplicates."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from plait.dialects.graph.bundle import GraphBundle
from plait.kernel.errors import PlaitError
from plait.kernel.inputs import Decided, Patch
from tests.dialects.graph.model.graphs import random_graph, random_patch, written
from tests.dialects.graph.model.reference import Graph, Interpreter, Outcome
from tests.dialects.graph.model.world import START, World, joined, onward
from tests.dialects.graph.player import Player, everything_here
from tests.support.effort import examples

GRAPHS, BATCH = examples(2_000), 100
STEPS = 5_000


@pytest.mark.chance
@pytest.mark.parametrize("batch", range(GRAPHS // BATCH))
def test_random_graphs_come_to_what_the_reference_says(batch: int) -> None:
    bundle, played = everything_here(), 0
    seed = batch * 1_000_000
    while played < BATCH:
        seed += 1
        played += compare(seed, bundle)


def compare(seed: int, bundle: GraphBundle) -> bool:
    """False for a graph that is none."""
    definition, world = random_graph(seed)
    text = written(definition)
    try:
        bundle.topologies.made(text)
    except PlaitError:
        return False
    patch = random_patch(definition, random.Random(seed + 2))
    reference = Interpreter(Graph(definition), world, random.Random(seed))
    expected = reference.play()
    if expected is None:
        return False
    found = play(text, world, random.Random(seed + 1), bundle, patch)
    assert (found.status, +found.ran, found.dead) == (expected.status, +expected.ran, expected.dead), f"seed {seed}"
    if expected.output is not None and reference.alone():
        assert _shown(found.output) == _shown(expected.output), f"seed {seed}"
    return True


def _shown(output: dict[str, Any] | None) -> dict[str, Any]:
    """Of approvals only what was decided: who and when is not the reference's business."""
    assert output is not None
    return {id: each.get("approved", each.get("v")) for id, each in output.items()}


# -- playing -----------------------------------------------------------------------------------------------------------


def play(
    definition: dict[str, Any], world: World, draw: random.Random, bundle: GraphBundle, patch: list[dict[str, Any]]
) -> Outcome:
    """The patch comes while the first tokens are on their way: the reference has the patched graph from the start."""
    player = Player(definition, bundle=bundle)
    ways = Ways(player)
    player.start({"n": 1})
    if patch:
        player.give(Patch(patch, "ann"), "patch")
        assert player.run.state.revision == 2
    player.twice = True
    for _ in range(STEPS):
        if player.status != "running" or not step(player, world, ways, draw):
            break
        if draw.random() < 0.1:
            player.crash()
    check_tokens(player)
    return outcome(player)


def step(player: Player, world: World, ways: Ways, draw: random.Random) -> bool:
    """One thing happens; False if nothing can."""
    things = [*player.tasks, *player.approvals]
    if not things:
        if not player.timers:
            return False
        player.ring()
        return True
    thing = draw.choice(things)
    if thing in player.approvals:
        approval = player.machine.run.state.approvals[thing]
        approves = world.approves(approval.node, approval.loops, ways.of(approval.token))
        player.give(Decided(thing, "approve" if approves else "reject", "ann"), f"decide-{thing}")
        return True
    opened = player.tasks[thing]
    node = opened.task.node
    if node in world.failing:
        player.end(opened, error="broken")
    elif node in world.flaky and opened.attempt == 1:
        player.end(opened, error="once", retryable=True)
    else:
        execution = player.machine.run.by_task(opened.task.token)
        assert execution is not None
        player.end(opened, world.output(node, execution.loops, ways.of(execution.id)))
    return True


class Ways:
    """The way that each token took since the last join, from the events alone."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._ways: dict[str, str] = {}
        self._loops: dict[str, dict[str, int]] = {}
        self._read = 0

    def of(self, token: str) -> str:
        for event in self._player.since(self._read):
            self._read += 1
            if event["type"] == "node.emitted":
                way = self._ways.get(event["token_id"], START)
                for target, emitted in zip(event["to_nodes"], event["tokens"], strict=True):
                    self._ways[emitted] = onward(way, target)
                    self._loops[emitted] = loops_at(self._player, target, event)
            elif event["type"] == "join.fired":
                first = event["token_ids"][0]
                self._ways[first] = joined(event["node_id"], self._loops[first])
        return self._ways.get(token, START)


def outcome(player: Player) -> Outcome:
    state = player.machine.run.state
    ran = Counter(ran_in(player))
    dead = Counter(execution.node for execution in player.machine.run.dead())
    output = player.output if player.status == "completed" else None
    return Outcome(player.status, ran, dead, output, max(after for _, after in [(0, state.counter), *player.counters]))


def ran_in(player: Player) -> list[tuple[str, tuple[tuple[str, int], ...]]]:
    """Each execution with the iterations it was in, from the events alone."""
    loops: dict[str, dict[str, int]] = {}
    found: list[tuple[str, tuple[tuple[str, int], ...]]] = []
    for event in player.events:
        if event["type"] == "node.emitted":
            for target, token in zip(event["to_nodes"], event["tokens"], strict=True):
                loops[token] = loops_at(player, target, event)
        elif event["type"] == "node.consumed":
            found.append((event["node_id"], tuple(sorted(loops.get(event["token_id"], {}).items()))))
    return found


def loops_at(player: Player, target: str, emitted: dict[str, Any]) -> dict[str, int]:
    around = player.machine.run.plan.nodes[target].loops
    return {loop: i for loop, i in emitted.get("loops", {}).items() if loop in around and i > 1}


def check_tokens(player: Player) -> None:
    """No token is lost or doubled, and the counter is what its events add up to."""
    counter, live, keys = 0, set[str](), set[str]()
    for event in player.events:
        if event["type"] == "run.started":
            counter = event["data"]["counter_after"]
        if "counter_before" not in event:
            continue
        assert event["counter_before"] == counter
        assert event["counter_after"] == counter + event["delta"] >= 0
        counter = event["counter_after"]
        for key in event.get("op_keys", [event.get("op_key")]):
            assert key not in keys, f"{key} is applied twice"
            keys.add(key)
        live |= set(event.get("tokens", ()))
        live -= set(event.get("token_ids") or [event["token_id"]]) if event["type"] == "node.consumed" else set()
    state = player.machine.run.state
    assert counter == state.counter == len(state.tokens)
    assert live == {token for token in state.tokens if token in live}
    if player.status == "completed":
        assert counter == 0
        assert not live
        assert player.types.count("run.completed") == 1
