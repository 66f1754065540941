"""A random graph, block by block: each begins where the one before ended, and the last node is reached on every path.

Graphs are drawn so that their outcome does not depend on timing: a node returns its own name, whatever its input, and
failures depend only on the attempt number. So a disturbed run must end like a calm one.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from plait.testing.sim.whisper import WHISPER

BROKEN, NEVER, GATE, END, EXTRA = "broken", "never", "gate", "end", "extra"
"""A node that fails until it is repaired; a message that never comes, and one that comes after a patch; the last node;
and the one that a patch adds."""
WORK, UNDO = "work", "undo"


@dataclass(frozen=True, slots=True)
class Luck:
    """How the work of a node turns out."""

    fails: int = 0
    """Failing attempts before the first success."""
    takes: float = 0.0
    undo_fails: int = 0


class Drawing:
    def __init__(self, random: Random, *, patient: bool) -> None:
        """`patient`: it may have to wait for people and messages."""
        self._random = random
        self.nodes: list[dict[str, Any]] = []
        self.edges: list[dict[str, str]] = []
        self.lucks: dict[str, Luck] = {}
        self.messages: list[str] = []
        self._last = self._task(None)
        blocks = [self._line, self._fan, self._choice, self._loop, self._wait, self._child]
        if patient:
            blocks += [self._approval, self._message, self._silence]
        for _ in range(random.randint(1, 4)):
            random.choice(blocks)()

    def close(self, *before: str) -> None:
        """Adds what the ending of the run needs, and the last node."""
        for name in before:
            if name == BROKEN:
                self._last = self._task(self._last, BROKEN)
            else:
                self._wait_for(name)
        self._task(self._last, END)

    # -- blocks --------------------------------------------------------------------------------------------------

    def _line(self) -> None:
        self._last = self._task(self._last)

    def _fan(self) -> None:
        """Parallel branches and a join."""
        ways = [self._task(self._last) for _ in range(self._random.randint(2, 3))]
        if self._random.random() < 0.5:
            ways[0] = self._task(ways[0])
        self._join(ways)

    def _choice(self) -> None:
        """One of two branches; the join behind them knows that the other is dead."""
        chooser, ways = self._name("choose"), [self._task(None), self._task(None)]
        rule = {"condition": f"input.route == '{self._random.choice('ab')}'", "next_nodes": ways[:1]}
        self._add({"id": chooser, "type": "decision", "branch": {"rules": [rule], "default": ways[1:]}}, self._last)
        self._join(ways)

    def _loop(self) -> None:
        """A node that is repeated, alone or with the one before it."""
        first = self._task(self._last)
        again = first if self._random.random() < 0.5 else self._task(first)
        after = self._task(None)
        loop: dict[str, Any] = {"condition": "true", "max_iterations": self._random.randint(2, 4)}
        node = next(node for node in self.nodes if node["id"] == again)
        node["loop"] = loop | {"loop_back_to": first, "timeout_path": [after]}
        self._last = after

    def _wait(self) -> None:
        seconds = self._random.choice((0, 1, 60))
        self._last = self._add({"id": self._name("wait"), "type": "wait", "config": {"seconds": seconds}}, self._last)
        self._line()

    def _child(self) -> None:
        config = {"dialect": "code", "definition": WHISPER, "wait": self._random.random() < 0.8}
        self._last = self._add({"id": self._name("child"), "type": "run", "config": config}, self._last)
        self._line()

    def _approval(self) -> None:
        config = {"title": "well?", "timeout_hours": None}
        self._last = self._add({"id": self._name("ask"), "type": "human", "human_config": config}, self._last)
        self._line()

    def _silence(self) -> None:
        """An approval that nobody decides in time."""
        asked, after = self._name("ask"), self._task(None)
        config = {"title": "anybody?", "timeout_hours": self._random.choice((0, 0.1))}
        self._add({"id": asked, "type": "human", "human_config": config, "rejection_path": [after]}, self._last)
        self.edges.append({"from": asked, "to": after})
        self._last = after

    def _message(self) -> None:
        self.messages.append(self._name("news"))
        self._wait_for(self.messages[-1])
        self._line()

    # -- nodes ---------------------------------------------------------------------------------------------------

    def _wait_for(self, message: str) -> None:
        node = {"id": f"hear-{message}", "type": "wait", "config": {"message": message}}
        self._last = self._add(node, self._last)

    def _task(self, after: str | None, name: str = "") -> str:
        random, id = self._random, name or self._name("task")
        self.lucks[id] = Luck(
            fails=random.choice((0, 0, 0, 1, 2)),
            takes=random.choice((0.0, 0.0, 0.5, 30.0)),
            undo_fails=random.choice((0, 0, 1)),
        )
        node: dict[str, Any] = {"id": id, "type": "task", "config": {"handler": WORK}}
        if random.random() < 0.5 and id != BROKEN:
            node["compensator"] = {"action": UNDO}
        return self._add(node, after)

    def _join(self, ways: list[str]) -> None:
        joined = self._task(None)
        self.edges += [{"from": way, "to": joined} for way in ways]
        self._last = joined

    def _add(self, node: dict[str, Any], after: str | None) -> str:
        self.nodes.append(node)
        if after is not None:
            self.edges.append({"from": after, "to": node["id"]})
        return node["id"]

    def _name(self, kind: str) -> str:
        return f"{kind}{len(self.nodes)}"
