"""The secret that signs sessions and links.

It comes from PLAIT_SECRET; without that, the first process generates one and stores it in the database for all
others. Then everyone who can read the database can sign links, so a secret outside of it is better.
"""

from __future__ import annotations

import hashlib
import secrets

from plait.kernel import values
from plait.kernel.errors import Damaged, InvalidInput
from plait.kernel.ids import Millis
from plait.kernel.records import Record, Records, read_body

_NAME = ("auth.secret", "", "signing")
SHORTEST = 32


async def signing_secret(records: Records, now: Millis, given: str | None = None) -> bytes:
    if given:
        return _from_text(given)
    if (stored := await records.get(*_NAME)) is None:
        fresh = Record(*_NAME, body=values.encode(secrets.token_hex(32)), at=now)
        await records.add(fresh)  # of two processes that start together, one wins
        stored = await records.get(*_NAME)
        assert stored is not None
    try:
        return bytes.fromhex(read_body(stored, str))
    except ValueError as error:
        raise Damaged("the signing secret is damaged", str(error)) from error


def _from_text(given: str) -> bytes:
    if len(given) < SHORTEST:
        raise InvalidInput(
            "auth.weak_secret",
            f"PLAIT_SECRET has {len(given)} characters",
            why="anyone who guesses it can sign links and sessions",
            fix=f"use at least {SHORTEST} random characters, for example from `openssl rand -hex 32`",
        )
    return hashlib.sha256(given.encode("utf-8", "surrogateescape")).digest()
