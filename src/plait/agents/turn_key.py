"""The key of one turn: which run, node, execution, attempt and turn it is. Equal when the turn is asked again."""

from __future__ import annotations

from urllib.parse import quote, unquote

import msgspec


class TurnKey(msgspec.Struct, frozen=True):
    run_id: str
    node_id: str
    execution: str
    attempt: int
    turn: int

    def text(self) -> str:
        parts = (self.run_id, self.node_id, self.execution, str(self.attempt), str(self.turn))
        return "/".join(quote(each, safe="") for each in parts)

    @classmethod
    def read(cls, text: str) -> TurnKey | None:
        """None if it is no such key: whoever calls a model by hand may use any."""
        parts = [unquote(each) for each in text.split("/")]
        if len(parts) != 5 or not (parts[3].isdigit() and parts[4].isdigit()):
            return None
        return cls(parts[0], parts[1], parts[2], int(parts[3]), int(parts[4]))
