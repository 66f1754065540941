"""Names of tasks. An item's token is its idempotency key, the same on every attempt; others have a prefix."""

from __future__ import annotations

import hashlib

from plait.kernel.ids import RunId, TaskToken

PREPARE, MATCH, SHAPE, UNDO = "prepare:", "match:", "shape:", "undo:"
CALLBACK, WAIT = "callback:", "wait:"
LINGER = TaskToken("linger")


def item_token(run_id: RunId, seed: int, step_id: str, place: int) -> str:
    """A UUID that follows from the seed drawn at the start: unguessable outside, the same in every replay."""
    digest = hashlib.blake2b(f"{run_id}\0{seed}\0{step_id}\0{place}".encode(), digest_size=16).digest()
    bits = int.from_bytes(digest, "big") & ~(0xF << 76 | 3 << 62) | 8 << 76 | 2 << 62
    text = f"{bits:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def undo_token(token: str, round: int) -> TaskToken:
    """Work that was undone, done again and has to be undone once more is another task."""
    return TaskToken(f"{UNDO}{token}:{round + 1}" if round else f"{UNDO}{token}")


def undone_item(token: str) -> str:
    """The item that a compensator undoes."""
    return token.removeprefix(UNDO).partition(":")[0]


def match_token(step_id: str, name: str, index: int) -> TaskToken:
    return TaskToken(f"{MATCH}{step_id}:{index}:{name}")


def match_parts(token: str) -> tuple[str, str, int]:
    """Step, name and index; a step's id has no colon, a name may have."""
    step_id, index, name = token.removeprefix(MATCH).split(":", 2)
    return step_id, name, int(index)


def wait_token(step_id: str, name: str) -> TaskToken:
    return TaskToken(f"{WAIT}{step_id}:{name}")
