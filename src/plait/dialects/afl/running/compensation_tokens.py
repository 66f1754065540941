"""Tokens of compensators: they contain the id of the AFL event that is compensated."""

from __future__ import annotations

from typing import Final

from plait.kernel.ids import TaskToken

_COMPENSATE: Final = "compensate:"


def compensator_token(event_id: str) -> TaskToken:
    return TaskToken(f"{_COMPENSATE}{event_id}")


def compensated(token: TaskToken) -> str | None:
    """The event that a compensator is for; None if `token` is no compensator's."""
    return token.removeprefix(_COMPENSATE) if token.startswith(_COMPENSATE) else None
