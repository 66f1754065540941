"""A language model with scripted answers: for tests, for demos, and for trying a workflow without an API key.

model = ScriptedModel({"qualify": [
    {"tool": "execute_pipeline", "args": {"pipeline": [{"step": "top_k", "k": 3}]}},
    {"output": {"score": 80}, "next_nodes": ["sales"], "reasoning": "large customer"},
]})
engine = Engine(models={"fast": model})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from plait.agents.model import ModelError, ModelReply, ModelRequest, ToolCall, Usage
from plait.agents.prompt import STATIC_PREFIX
from plait.agents.tokens import tokens_in, tokens_of
from plait.agents.tools.built_in import OFFERED
from plait.agents.turn_key import TurnKey
from plait.kernel import values

Turn = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""`{"tool", "args"}`, a list of these, `{"output", "next_nodes"?, "reasoning"?}`, `{"text"}` or `{"error": kind}`."""

_ANSWER: Final = ("output", "next_nodes", "reasoning")


class ScriptedModel:
    """A language model with scripted answers: from a function of the request, or from a script for each node, whose
    turns are consumed in order across the attempts and iterations of a run, and from the start for each run. A turn
    that is repeated after a crash has the same reply."""

    def __init__(
        self, script: Mapping[str, Sequence[Turn]] | Callable[[ModelRequest], Turn], repeat_last: bool = False
    ) -> None:
        self._script = script
        self._repeat_last = repeat_last
        self.requests: list[ModelRequest] = []
        self._taken: dict[tuple[str, str], int] = {}
        self._replies: dict[str, ModelReply] = {}
        self._warm = False
        """Whether the static prefix was sent before."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        known = self._replies.get(request.key) if request.key else None
        if known is not None:
            return known
        reply = self._reply(self._turn(request), request)
        if request.key:
            self._replies[request.key] = reply
        return reply

    def _turn(self, request: ModelRequest) -> Turn:
        if callable(self._script):
            return self._script(request)
        key = TurnKey.read(request.key) or TurnKey("", "", "", 1, 1)
        place = key.run_id, key.node_id
        # After a restart, a process meets a conversation in the middle: its earlier turns are already consumed
        number = self._taken.get(place, key.turn - 1)
        turns = self._script.get(key.node_id, ())
        if number >= len(turns) and not (self._repeat_last and turns):
            raise ModelError("invalid_request", f"the script of `{key.node_id}` has no turn {number + 1}")
        self._taken[place] = number + 1
        return turns[min(number, len(turns) - 1)]

    def _reply(self, turn: Turn, request: ModelRequest) -> ModelReply:
        calls = turn if not isinstance(turn, Mapping) else [turn] if "tool" in turn else []
        if isinstance(turn, Mapping) and "error" in turn:
            raise ModelError(turn["error"], str(turn.get("message", "")), retry_after=turn.get("retry_after"))
        if calls:
            made = [
                ToolCall(f"call_{index}", call["tool"], call.get("args", {}))
                for index, call in enumerate(cast("Sequence[Mapping[str, Any]]", calls))
            ]
            text = calls[0].get("text", "")
            size = sum(len(values.plain(each)) for each in made)
            return ModelReply(text, made, "tool_calls", self._usage(request, size), "scripted")
        answer = cast("Mapping[str, Any]", turn)
        if "text" in answer:
            text = str(answer["text"])
        else:
            text = values.plain({name: answer[name] for name in _ANSWER if name in answer}).decode()
        return ModelReply(text, (), answer.get("finish", "stop"), self._usage(request, len(text)), "scripted")

    def _usage(self, request: ModelRequest, characters: int) -> Usage:
        cached = _PREFIX if self._warm else 0
        self._warm = True
        return Usage(tokens_of(request), tokens_in(characters), cached)


_PREFIX: Final = tokens_in(len(STATIC_PREFIX) + sum(len(values.plain(each)) for each in OFFERED))
