"""Plays a recording on the kernel's `advance`, without an engine: calls come in, tools answer, callers hear of it."""

from __future__ import annotations

from typing import Any

import msgspec

from plait.dialects.refs.recording.recorded import Recording
from plait.dialects.refs.running.recording_values import recording_of
from plait.engine.ask import refusal_of
from plait.kernel import values
from plait.kernel.errors import PlaitError
from plait.kernel.inputs import Loaded, Message
from plait.kernel.unit_of_work import UnitOfWork
from tests.dialects.refs.player import Player


class Recorder(Player):
    def __init__(self, input: Any = None, **fields: Any) -> None:
        self.answers: dict[str, Any] = {}
        """By the key of the call."""
        self.refused: dict[str, PlaitError] = {}
        self._sent = 0
        super().__init__({"mode": "recording", **fields})
        self.start(input)

    def call(self, tool: str, arguments: Any = None, key: str = "", **more: Any) -> str:
        """Returns the key of the call."""
        return self.send("call", {"tool": tool, "arguments": arguments or {}, **more}, key)

    def send(self, name: str, body: Any, key: str = "") -> str:
        self._sent += 1
        key = key or f"{name}-{self._sent}"
        self.give(Message(key, name, values.encode(body), asks=True), key)
        return key

    def answer(self, step: str, output: Any, **more: Any) -> None:
        """The real server answers."""
        text = {"type": "text", "text": msgspec.json.encode(output).decode()}
        self.finish(step, {"result": {"content": [text], "structuredContent": output, **more}, "output": output})

    def done(self, tool: str, arguments: Any = None, output: Any = None, **more: Any) -> str:
        """A call that succeeds; returns its step."""
        key = self.call(tool, arguments, **more)
        assert key not in self.refused, self.refused[key]
        step = self.of("call.recorded")[-1]["step"]
        self.answer(step, output)
        return step

    def code(self, key: str) -> str:
        return self.refused[key].code

    def forget(self) -> None:
        """The run is dropped from memory, and read again for the next input."""
        self.run = self._folded()
        self.tasks.clear()
        self.run.mailbox.append((Loaded("wake"), None))
        from plait.kernel.advance import advance

        self._take(advance(self.run, self.now))

    @property
    def recording(self) -> Recording:
        return recording_of(self.machine.run)

    def _take(self, unit: UnitOfWork) -> None:
        super()._take(unit)
        for taken in unit.write.taken:
            refusal = refusal_of(taken)
            if refusal is not None:
                self.refused[taken.key] = refusal
            elif taken.reply is not None and not taken.later:
                assert taken.key not in self.answers or self.twice, "nobody is answered twice"
                self.answers[taken.key] = msgspec.json.decode(taken.reply)
