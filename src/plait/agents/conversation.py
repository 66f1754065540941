"""A conversation with a model, folded from its journal: its current position, and what the model has seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Raw

from plait.kernel import values

from .entries import AnyEntry, Begun, Ended, FedBack, Replied, ToolDone, Waiting, decode_answer, decode_entry
from .model import ChatMessage, ToolCall, Usage
from .prices import total
from .prompt import fenced


class Conversation:
    def __init__(self) -> None:
        self.begun: Begun | None = None
        self.first: Begun | None = None
        """The very first beginning: a fork may continue under another name."""
        self.replies: list[Replied] = []
        self.said: list[ChatMessage] = []
        """Messages after the beginning."""
        self.bad = 0
        """Mistakes of the model that were reported back to it."""
        self.waiting: Waiting | None = None
        """The wait that suspended it, until it has been handled."""
        self.answer: dict[str, Any] | None = None
        """The answer to that wait."""
        self.rests = 0
        """Times in this turn that it waited because of the model's rate limit."""
        self.ended: Ended | None = None
        self.results: dict[str, Raw] = {}
        """Values that the model can refer to, by reference."""
        self.tool_calls = 0
        self.worked_ms = 0
        """Working time, excluding waits."""
        self._answered = 0
        self._settled = True
        """Whether the last reply has been handled completely."""

    @classmethod
    def of(cls, journal: Sequence[Raw]) -> Conversation:
        found = cls()
        for raw in journal:
            found.take(raw)
        return found

    def take(self, raw: Raw) -> AnyEntry | None:
        """Adds the next journal item. None: it was the answer to a wait."""
        if self.waiting is None or self.answer is not None:
            entry = decode_entry(raw)
            self.add(entry)
            return entry
        self.answer = decode_answer(raw)
        if self.waiting.kind == "time":
            self.waiting = self.answer = None
        return None

    def add(self, entry: AnyEntry) -> None:
        match entry:
            case Begun():
                self.begun = entry
                self.first = self.first or entry
            case Replied():
                self._replied(entry)
            case FedBack():
                self.bad += 1
                self.said.append(ChatMessage("user", entry.problem))
                self._settled = True
            case ToolDone():
                self._tool_done(entry)
            case Waiting():
                self.waiting, self.answer = entry, None
                self.rests += entry.kind == "time"
                self.worked_ms += entry.ms
            case Ended():
                self.ended = entry

    def _replied(self, reply: Replied) -> None:
        self.replies.append(reply)
        self.worked_ms += reply.ms
        self.said.append(ChatMessage("assistant", reply.text, reply.tool_calls))
        self._answered, self._settled, self.rests = 0, False, 0

    def _tool_done(self, done: ToolDone) -> None:
        self.tool_calls += 1
        self.worked_ms += done.ms
        self.bad += done.bad
        self.waiting = self.answer = None
        if done.ref:
            self.results[done.ref] = done.data or done.result
        shown = Raw(values.plain({"error": done.error})) if done.error else done.result
        call = self.replies[-1].tool_calls[done.index]
        self.said.append(ChatMessage("tool", fenced(f"result of {done.tool}", shown), tool_call_id=call.id))
        self._answered = done.index + 1
        self._settled = self._answered == len(self.replies[-1].tool_calls)

    @property
    def began_as(self) -> int:
        """The number of the attempt that began it; 0 if it has not begun or the number was not recorded."""
        return 0 if self.first is None else self.first.attempt

    @property
    def turn(self) -> int:
        """The number of the last reply."""
        return len(self.replies)

    @property
    def call(self) -> tuple[int, ToolCall] | None:
        """The next tool call to make."""
        calls = self.replies[-1].tool_calls if self.replies else ()
        return None if self._settled or not calls else (self._answered, calls[self._answered])

    @property
    def final(self) -> Replied | None:
        """A reply that is meant as the final answer and has not been handled yet."""
        return None if self._settled or self.replies[-1].tool_calls else self.replies[-1]

    @property
    def usage(self) -> Usage:
        found = [each.usage for each in self.replies]
        return Usage(
            sum(each.input for each in found), sum(each.output for each in found), sum(each.cached for each in found)
        )

    @property
    def cost_usd(self) -> float | None:
        return total(each.cost_usd for each in self.replies)
