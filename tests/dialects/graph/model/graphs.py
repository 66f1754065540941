"""Random graphs of three sorts: any acyclic graph, nested blocks with loops in loops, and loops full of tokens."""

from __future__ import annotations

import random
from typing import Any

from tests.dialects.graph.model.world import World


class Blocks:
    """Nested blocks: one way in, one way out. Where all that is forked meets again, one token enters a loop's body;
    `merging`, each goes on by itself, and several are in a body at once, in rounds of their own."""

    def __init__(self, draw: random.Random, *, merging: bool) -> None:
        self._draw = draw
        self._merging = merging
        self.nodes: list[dict[str, Any]] = []
        self.edges: list[dict[str, str]] = []

    def block(self, depth: int) -> tuple[str, str]:
        kinds = ["task", "task", "human", "decision"] + ["seq", "fork", "branch", "loop"] * (depth > 0)
        kind = self._draw.choice(kinds)
        match kind:
            case "seq":
                first, middle = self.block(depth - 1)
                begin, last = self.block(depth - 1)
                self.edge(middle, begin)
                return first, last
            case "fork":
                return self.fork(depth)
            case "branch":
                return self.branch(depth)
            case "loop":
                return self.loop(depth)
            case _:
                id = self._node(kind if kind != "decision" else "task")
                return id, id

    def fork(self, depth: int) -> tuple[str, str]:
        first, last = self._node("task"), self._node("task")
        for _ in range(self._draw.randint(2, 3)):
            begin, end = self.block(depth - 1)
            self.edge(first, begin)
            self.edge(end, last)
        if self._merging and self._draw.random() < 0.6:
            self.get(last)["wait_for_all"] = False
        return first, last

    def branch(self, depth: int) -> tuple[str, str]:
        first, last = self._node("task"), self._node("task")
        blocks = [self.block(depth - 1) for _ in range(self._draw.randint(2, 3))]
        for _, end in blocks:
            self.edge(end, last)
        heads = [begin for begin, _ in blocks]
        self.get(first)["branch"] = branch(self._draw, heads)
        return first, last

    def loop(self, depth: int) -> tuple[str, str]:
        return self.looped(*self.block(depth - 1))

    def looped(self, begin: str, end: str) -> tuple[str, str]:
        last = self._node("task")
        self.edge(end, last)
        self.get(last)["loop"] = loop(self._draw, begin)
        return begin, last

    def _node(self, type: str) -> str:
        id = f"n{len(self.nodes)}"
        self.nodes.append(node(id, type))
        return id

    def get(self, id: str) -> dict[str, Any]:
        return next(each for each in self.nodes if each["id"] == id)

    def edge(self, source: str, target: str) -> None:
        self.edges.append({"from": source, "to": target})


def node(id: str, type: str) -> dict[str, Any]:
    found: dict[str, Any] = {"id": id, "type": type, "retry": {"max_attempts": 2}}
    return found | ({"human_config": {"timeout_hours": None}} if type == "human" else {})


def branch(draw: random.Random, targets: list[str]) -> dict[str, Any]:
    """`below` is for the reference; the definition that is compiled does not have it."""
    rules = [
        {"below": draw.randint(1, 3), "next_nodes": draw.sample(targets, draw.randint(0, len(targets)))}
        for _ in range(draw.randint(1, 2))
    ]
    used = {target for rule in rules for target in rule["next_nodes"]}
    return {"type": "conditional", "rules": rules, "default": [each for each in targets if each not in used]}


def loop(draw: random.Random, back: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "again": sorted(draw.sample(range(4), draw.randint(1, 3))),
        "max_iterations": draw.randint(1, 4),
        "loop_back_to": back,
    }
    return found | ({"timeout_path": []} if draw.random() < 0.8 else {})


def acyclic(draw: random.Random) -> dict[str, Any]:
    """Edges only go from lower to higher numbers; any node may branch, join, merge, loop on itself or ask people."""
    size = draw.randint(2, 9)
    nodes = [node(f"n{i}", draw.choice(["task", "task", "task", "human"])) for i in range(size)]
    edges: list[dict[str, str]] = []
    for i, each in enumerate(nodes):
        later = [f"n{j}" for j in range(i + 1, size)]
        targets = draw.sample(later, min(len(later), draw.choice([0, 1, 1, 2, 3])))
        if each["type"] == "task" and len(targets) > 1 and draw.random() < 0.4:
            each["branch"] = branch(draw, targets)
        else:
            edges += [{"from": each["id"], "to": target} for target in targets]
        if each["type"] == "task" and draw.random() < 0.15:
            each["loop"] = loop(draw, each["id"])
        if each["type"] == "human" and later and draw.random() < 0.3:
            each["rejection_path"] = [draw.choice(later)]
        if draw.random() < 0.2:
            each["wait_for_all"] = False
    return {"nodes": nodes, "edges": edges}


def blocks(draw: random.Random) -> dict[str, Any]:
    made = Blocks(draw, merging=draw.random() < 0.4)
    made.block(draw.randint(1, 3))
    return {"nodes": made.nodes, "edges": made.edges}


def crowded(draw: random.Random) -> dict[str, Any]:
    """Several tokens come to a loop one by one; in its body they part and meet."""
    made = Blocks(draw, merging=True)
    _, last = made.fork(0)
    made.get(last)["wait_for_all"] = False
    begin, _ = made.looped(*draw.choice((made.branch, made.branch, made.fork))(1))
    made.edge(last, begin)
    return {"nodes": made.nodes, "edges": made.edges}


def random_graph(seed: int) -> tuple[dict[str, Any], World]:
    draw = random.Random(seed)
    found = draw.choice((acyclic, acyclic, blocks, crowded))(draw)
    found["limits"] = {"max_hops": 100_000, "max_tokens": 100_000}
    if draw.random() < 0.3:
        found["on_failure"] = "hold"
    tasks = [each["id"] for each in found["nodes"] if each["type"] == "task"]
    failing = frozenset(id for id in tasks if draw.random() < 0.04)
    flaky = frozenset(id for id in tasks if draw.random() < 0.1)
    return found, World(seed, failing, flaky - failing)


def written(found: dict[str, Any]) -> dict[str, Any]:
    """The definition as people would write it: with conditions."""
    return {**found, "nodes": [_written(each) for each in found["nodes"]]}


def _written(each: dict[str, Any]) -> dict[str, Any]:
    each = dict(each)
    if "branch" in each:
        rules = [
            {"condition": f"output.v < {rule['below']}", "next_nodes": rule["next_nodes"]}
            for rule in each["branch"]["rules"]
        ]
        each["branch"] = {**each["branch"], "rules": rules}
    if "loop" in each:
        again = each["loop"]["again"]
        rest = {key: value for key, value in each["loop"].items() if key != "again"}
        each["loop"] = {**rest, "condition": f"output.v in {again}"}
    return each


def random_patch(found: dict[str, Any], draw: random.Random) -> list[dict[str, Any]]:
    """Operations that add a node behind another one, and the same done to the definition; mostly none."""
    owners = [each["id"] for each in found["nodes"] if "branch" not in each]
    if draw.random() < 0.7 or not owners:
        return []
    added, edge = node("added", "task"), {"from": draw.choice(owners), "to": "added"}
    found["nodes"], found["edges"] = [*found["nodes"], added], [*found["edges"], edge]
    return [
        {"op": "add", "path": "/nodes/-", "value": added},
        {"op": "add", "path": "/edges/-", "value": edge},
    ]
