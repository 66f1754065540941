"""Globally unique names of attempts and turns: different for each attempt, the same when a turn is repeated after a
crash."""

from __future__ import annotations

from urllib.parse import quote, unquote

import msgspec

from plait.kernel.ids import RunId, caller_id
from plait.kernel.task_inputs import AgentInput


class TurnKey(msgspec.Struct, frozen=True):
    run_id: str
    node_id: str
    execution: str
    attempt: int
    turn: int

    @classmethod
    def of(cls, wanted: AgentInput, run_id: RunId, attempt: int, turn: int) -> TurnKey:
        return cls(run_id, wanted.node_id, _taken_up(wanted), attempt, turn)

    def text(self) -> str:
        parts = (self.run_id, self.node_id, self.execution, str(self.attempt), str(self.turn))
        return "/".join(quote(each, safe="") for each in parts)

    @classmethod
    def read(cls, text: str) -> TurnKey | None:
        """None if it is not such a key: direct callers of a model may use any."""
        parts = [unquote(each) for each in text.split("/")]
        if len(parts) != 5 or not (parts[3].isdigit() and parts[4].isdigit()):
            return None
        return cls(parts[0], parts[1], parts[2], int(parts[3]), int(parts[4]))


def job_id(wanted: AgentInput, run_id: RunId, attempt: int) -> str:
    return f"{caller_id(run_id)}:{_taken_up(wanted)}:{attempt}"


def _taken_up(wanted: AgentInput) -> str:
    """Attempts restart at one when a permanently failed task is retried by request."""
    return f"{wanted.execution}~{wanted.generation}" if wanted.generation else wanted.execution
