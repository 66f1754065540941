"""A small interpreter of graphs, for tests: slow, naive, and independent of the machine.

It reads the definition as it is written, keeps tokens in a list, and searches the graph anew whenever a join has to
be judged. What it does at each step is the spec's text, so that it can be compared with it line by line.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.dialects.graph.model.world import START, World, joined, onward

Loops = dict[str, int]
Ran = Counter[tuple[str, tuple[tuple[str, int], ...]]]


@dataclass
class Token:
    node: str
    origin: str
    loops: Loops
    way: str = START
    back: bool = False
    parked: bool = False
    dead: bool = False


@dataclass
class Outcome:
    status: str
    ran: Ran
    """How often each node was done, by the iterations it was in."""
    dead: Counter[str]
    output: dict[str, Any] | None
    most: int = 0


class Graph:
    """A definition, and what can be asked of it."""

    def __init__(self, definition: Mapping[str, Any]) -> None:
        self.nodes: dict[str, Mapping[str, Any]] = {node["id"]: node for node in definition["nodes"]}
        self.edges: list[tuple[str, str]] = [(edge["from"], edge["to"]) for edge in definition.get("edges", [])]
        self.on_failure = definition.get("on_failure", "fail")
        self.forward = {id: list(dict.fromkeys(self._forward(id))) for id in self.nodes}
        self.sources = {id: [each for each in self.nodes if id in self.forward[each]] for id in self.nodes}
        self.bodies = {id: self._body(id) for id, node in self.nodes.items() if "loop" in node}
        self.order = self._ordered()

    def static(self, id: str) -> list[str]:
        return [to for source, to in self.edges if source == id]

    def _forward(self, id: str) -> Iterator[str]:
        node = self.nodes[id]
        loop, branch = node.get("loop", {}), node.get("branch")
        yield from loop.get("break_path", [])
        yield from loop.get("timeout_path", [])
        if branch is not None:
            for rule in branch["rules"]:
                yield from rule["next_nodes"]
            yield from branch.get("default", [])
        yield from node.get("rejection_path", [])
        if branch is None and "break_path" not in loop:
            yield from self.static(id)

    def joins(self, id: str) -> bool:
        several = len(self.sources[id]) > 1
        return several and self.nodes[id].get("wait_for_all", True)

    def back(self, id: str) -> str | None:
        loop = self.nodes[id].get("loop")
        return None if loop is None else loop.get("loop_back_to", id)

    def around(self, id: str) -> list[str]:
        return [loop for loop, body in self.bodies.items() if id in body]

    def _body(self, loop: str) -> set[str]:
        start = self.back(loop)
        return {id for id in self.nodes if self._leads(str(start), id) and self._leads(id, loop)}

    def _leads(self, start: str, end: str) -> bool:
        return end in self.reach({start}, set())

    def reach(self, starts: set[str], loops: set[str]) -> set[str]:
        """By forward targets, and back along these loops."""
        found: set[str] = set()
        todo = list(starts)
        while todo:
            id = todo.pop()
            if id in found:
                continue
            found.add(id)
            todo += self.forward[id]
            back = self.back(id)
            if id in loops and back is not None:
                todo.append(back)
        return found

    def _ordered(self) -> list[str]:
        found: list[str] = []
        while len(found) < len(self.nodes):
            found.append(next(id for id in self.nodes if id not in found and set(self.sources[id]) <= set(found)))
        return found


@dataclass
class Interpreter:
    graph: Graph
    world: World
    random: random.Random
    tokens: list[Token] = field(default_factory=list[Token])
    ran: Ran = field(default_factory=Counter[tuple[str, tuple[tuple[str, int], ...]]])
    last: dict[str, tuple[dict[str, Any], bool]] = field(default_factory=dict[str, tuple[dict[str, Any], bool]])
    """Of each node that was done: its output, and whether its last settle ended a path."""

    def play(self, most: int = 500) -> Outcome | None:
        """None if it takes more executions than `most`: tokens in loops multiply."""
        for id in self.graph.nodes:
            if not self.graph.sources[id]:
                self._add(Token(id, "", {}))
        while sum(self.ran.values()) <= most:
            ready = [token for token in self.tokens if not (token.parked or token.dead)]
            if ready:
                self._do(self.random.choice(ready))
            elif not self._fire_joins():
                return self._outcome()
        return None

    def alone(self) -> bool:
        """Whether no node ran twice in a round: then the last to run is known, whatever the order."""
        return all(times == 1 for times in self.ran.values())

    def _outcome(self) -> Outcome:
        dead = Counter(token.node for token in self.tokens if token.dead)
        if self.tokens:
            status = "running" if self.graph.on_failure == "hold" else "failed"
            return Outcome(status, self.ran, dead, None)
        return Outcome("completed", self.ran, dead, {id: output for id, (output, ends) in self.last.items() if ends})

    def _add(self, token: Token) -> None:
        token.loops = {loop: i for loop, i in token.loops.items() if loop in self.graph.around(token.node)}
        token.parked = self.graph.joins(token.node) and not token.back
        self.tokens.append(token)

    # -- a node ------------------------------------------------------------------------------------------------------

    def _do(self, token: Token) -> None:
        if token.node in self.world.failing:
            token.dead = True
            return
        self.tokens.remove(token)
        self._settle(token)

    def _settle(self, token: Token) -> None:
        """A token that was taken off the list: it is done."""
        id, loops = token.node, token.loops
        node = self.graph.nodes[id]
        rounds = tuple(sorted((loop, i) for loop, i in loops.items() if i > 1))
        self.ran[id, rounds] += 1
        output = self.world.output(id, loops, token.way)
        v = output["v"]
        if node["type"] == "human":
            approved = self.world.approves(id, loops, token.way)
            self.last[id] = ({"approved": approved}, True)
            if not approved:
                self._emit(token, node.get("rejection_path", []))
                return
            v = 1 if approved else 0
        else:
            self.last[id] = (output, True)
        loop = node.get("loop")
        if loop is not None:
            iteration = loops.get(id, 1)
            if v in loop["again"]:
                if iteration < loop["max_iterations"]:
                    back = str(self.graph.back(id))
                    way = onward(token.way, back)
                    self._add(Token(back, id, loops | {id: iteration + 1}, way, back=True))
                    self.last[id] = (self.last[id][0], False)
                    return
                if "timeout_path" not in loop:
                    self.ran[id, rounds] -= 1
                    del self.last[id]
                    token.dead = True
                    self.tokens.append(token)
                    return
                self._emit(token, loop["timeout_path"])
                return
            if "break_path" in loop:
                self._emit(token, loop["break_path"])
                return
        branch = node.get("branch")
        if branch is None:
            self._emit(token, self.graph.static(id))
            return
        taken = next((rule["next_nodes"] for rule in branch["rules"] if v < rule["below"]), branch.get("default", []))
        self._emit(token, taken)

    def _emit(self, token: Token, targets: list[str]) -> None:
        for target in dict.fromkeys(targets):
            self._add(Token(target, token.node, dict(token.loops), onward(token.way, target)))
        if targets:
            self.last[token.node] = (self.last[token.node][0], False)

    # -- joins -------------------------------------------------------------------------------------------------------

    def _fire_joins(self) -> bool:
        waiting = sorted(
            {(self.graph.order.index(token.node), self._round(token.node, token)) for token in self._parked()}
        )
        for place, round in waiting:
            if self._may_fire(self.graph.order[place], round):
                self._fire(self.graph.order[place], round)
                return True
        for place, round in waiting:
            if not self._waits_for_dead(self.graph.order[place], round):
                self._fire(self.graph.order[place], round)
                return True
        return False

    def _parked(self) -> list[Token]:
        return [token for token in self.tokens if token.parked]

    def _round(self, join: str, token: Token) -> tuple[int, ...]:
        """Outermost loop first: its body is the widest."""
        around = sorted(self.graph.around(join), key=lambda loop: (-len(self.graph.bodies[loop]), loop))
        return tuple(token.loops.get(loop, 1) for loop in around)

    def _at(self, join: str, round: tuple[int, ...]) -> list[Token]:
        return [token for token in self._parked() if token.node == join and self._round(join, token) == round]

    def _missing(self, join: str, round: tuple[int, ...]) -> list[str]:
        here = {token.origin for token in self._at(join, round)}
        return [source for source in self.graph.sources[join] if source not in here]

    def _delivers(self, join: str, round: tuple[int, ...], start: Token, missing: set[str]) -> bool:
        """Whether a position may come to one of these nodes in this round: every way is tried that does not lead past
        the round."""
        seen: set[tuple[str, tuple[tuple[str, int], ...]]] = set()
        todo = [start]
        while todo:
            token = todo.pop()
            here = token.node, tuple(sorted(token.loops.items()))
            if here in seen or self._round(join, token) > round:
                continue
            seen.add(here)
            if token.node in missing and self._round(join, token) == round:
                return True
            todo += [self._moved(token, target, token.loops) for target in self.graph.forward[token.node]]
            back = self.graph.back(token.node)
            if back is not None:
                counts = token.node in self.graph.around(join)
                onward = {token.node: token.loops.get(token.node, 1) + 1} if counts else {}
                todo.append(self._moved(token, back, token.loops | onward))
        return False

    def _moved(self, token: Token, target: str, loops: Loops) -> Token:
        around = self.graph.around(target)
        return Token(target, token.node, {loop: i for loop, i in loops.items() if loop in around})

    def _may_fire(self, join: str, round: tuple[int, ...]) -> bool:
        here, missing = self._at(join, round), set(self._missing(join, round))
        others = [token for token in self.tokens if not any(token is each for each in here)]
        return not any(self._delivers(join, round, token, missing) for token in others)

    def _waits_for_dead(self, join: str, round: tuple[int, ...]) -> bool:
        missing = set(self._missing(join, round))
        return any(self._delivers(join, round, token, missing) for token in self.tokens if token.dead)

    def _fire(self, join: str, round: tuple[int, ...]) -> None:
        taken: dict[str, Token] = {}
        for token in self._at(join, round):
            taken.setdefault(token.origin, token)
        first = next(iter(taken.values()))
        if join in self.world.failing:
            first.dead, first.parked = True, False
            for token in list(taken.values())[1:]:
                self.tokens.remove(token)
            return
        for token in taken.values():
            self.tokens.remove(token)
        self._settle(Token(join, "", dict(first.loops), joined(join, first.loops)))
