"""Texts that definitions refer to by content hash, `cas://sha256:…`: configs, schemas, code. Stored by namespace.

records   upload  default  9f86d081…  "{…}"
"""

from __future__ import annotations

import asyncio
import hashlib
import re

import msgspec

from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import InvalidInput, TooLarge
from plait.kernel.ids import DEFAULT_NAMESPACE, check_namespace
from plait.kernel.records import Record, Records, read_body

MAX_BYTES = 1024 * 1024

_KIND = "upload"
_REFERENCE = re.compile(r"(?:cas://)?sha256:([0-9a-f]{64})")
_text = msgspec.json.Decoder(str)


class Uploads:
    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock

    async def put(self, content: bytes, namespace: str = DEFAULT_NAMESPACE, *, hash: str | None = None) -> str:
        """Stores a text and returns its reference, which follows from the content; durable when this returns. `hash` is
        the SHA-256 that the caller expects."""
        check_namespace(namespace)
        found = hashlib.sha256(content).hexdigest()
        if hash is not None and hash.removeprefix("sha256:") != found:
            raise InvalidInput(
                "definitions.bad_hash", f"the content has the hash sha256:{found}", fix="send it to that"
            )
        if len(content) > MAX_BYTES:
            raise TooLarge("definitions.upload_too_large", f"it has {len(content):,} bytes", why=f"limit {MAX_BYTES:,}")
        try:
            text = content.decode()
        except UnicodeDecodeError:
            raise InvalidInput(
                "definitions.not_text", "it is no text in UTF-8", fix="send JSON or source text"
            ) from None
        await self._records.add(Record(_KIND, namespace, found, values.encode(text), self._clock.now()))
        return f"cas://sha256:{found}"

    async def load(self, references: frozenset[str], namespace: str) -> dict[str, str]:
        """Returns texts by reference; leaves out those that are not stored, and texts that are no references."""
        known = {each: match[1] for each in sorted(references) if (match := _REFERENCE.fullmatch(each))}
        found = await asyncio.gather(*(self._records.get(_KIND, namespace, hash) for hash in known.values()))
        pairs = zip(known, found, strict=True)
        return {reference: read_body(record, str) for reference, record in pairs if record is not None}
