"""Tokens of compensators: they contain the token of the work that is compensated."""

from __future__ import annotations

from plait.kernel.ids import TaskToken

from .state import Done, split_id, work_id

COMPENSATE = "compensate:"


def compensator_token(done: Done) -> TaskToken:
    """The token of a compensator. Work that was redone because the run was resumed has a compensator of its own."""
    return TaskToken(f"{COMPENSATE}{work_id(done.step, done.index)}/{done.generation}")


def compensated(token: TaskToken) -> tuple[str, int | None] | None:
    """The token of the work that a compensator is for; None if `token` is no compensator's."""
    if not token.startswith(COMPENSATE):
        return None
    return split_id(token.removeprefix(COMPENSATE).rpartition("/")[0])
