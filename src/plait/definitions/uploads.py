"""Texts that definitions refer to by their content, `cas://sha256:…`: configs, schemas, code. Kept by namespace.

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
        """Keeps a text; durable when this returns. Its reference is the answer, which follows from its content;
        `hash` is what the caller takes for its SHA-256."""
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
        """By reference; those that are not stored, or no references at all, are left out."""
        known = {each: match[1] for each in sorted(references) if (match := _REFERENCE.fullmatch(each))}
        found = await asyncio.gather(*(self._records.get(_KIND, namespace, hash) for hash in known.values()))
        pairs = zip(known, found, strict=True)
        return {reference: read_body(record, str) for reference, record in pairs if record is not None}
