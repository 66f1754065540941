"""The secret that sessions and links are signed with.

It comes from PLAIT_SECRET; without that, the first process makes one and keeps it in the database, where
all others find it. Who can read the database can then sign links, so a secret outside of it is better.
"""

from __future__ import annotations

import hashlib
import secrets

from plait.kernel import values
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import Millis
from plait.kernel.records import Record, Records

_NAME = ("auth.secret", "", "signing")
SHORTEST = 32


async def signing_secret(records: Records, now: Millis, given: str | None = None) -> bytes:
    if given:
        return _from_text(given)
    if (kept := await records.get(*_NAME)) is None:
        fresh = Record(*_NAME, body=values.encode(secrets.token_hex(32)), at=now)
        await records.put(fresh, new=True)  # of two processes that start at once, one is first
        kept = await records.get(*_NAME)
        assert kept is not None
    return bytes.fromhex(values.decode(kept.body, str))


def _from_text(given: str) -> bytes:
    if len(given) < SHORTEST:
        raise InvalidInput(
            "auth.weak_secret",
            f"PLAIT_SECRET has {len(given)} characters",
            why="who guesses it can sign links and sessions",
            fix=f"use at least {SHORTEST} random characters, such as `openssl rand -hex 32` prints",
        )
    return hashlib.sha256(given.encode("utf-8", "surrogateescape")).digest()
