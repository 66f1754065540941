"""Reads what releases before the stream of changes wrote, as the changes that they would write today.

They stored the code they had loaded as documents without a namespace, and each tag as a record with a version.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from plait.kernel.errors import PlaitError
from plait.kernel.ids import Millis
from plait.kernel.records import Record, Records

from . import documents
from .changes import Change, TagMoved, VersionSaved, saved

_TAG = "tag"
_PAGE = 500
_version = msgspec.json.Decoder(str)


async def older_changes(records: Records, namespace: str) -> list[tuple[Change, Millis]]:
    """Returns the changes, oldest first."""
    kind, read = (_TAG, _tag) if namespace else (documents.KIND, _document)
    found = [(read(record), record.at) async for record in _all(records, kind, namespace)]
    return sorted(found, key=lambda pair: pair[1])


async def _all(records: Records, kind: str, namespace: str) -> AsyncIterator[Record]:
    after: str | None = None
    while page := await records.list(kind, namespace, after=after, limit=_PAGE):
        for record in page:
            yield record
        if len(page) < _PAGE:
            return
        after = page[-1].id


def _tag(record: Record) -> Change:
    name, _, tag = record.id.partition("@")
    try:
        return TagMoved(name, tag, _version.decode(record.body))
    except msgspec.DecodeError as error:
        raise documents.damaged(_TAG, record.id, str(error)) from None


def _document(record: Record) -> Change:
    """Reads a document as a change. A damaged one is still listed, by its id; reading its text raises the error."""
    try:
        return saved(documents.read(record))
    except PlaitError:
        dialect, _, rest = record.id.partition("/")
        label, _, hash = rest.rpartition("/")
        name, _, version = label.partition("@")
        return VersionSaved(dialect, name, version, hash)
