"""The text of each version: one record, written once, and read when that version is requested.

records   definition  ""       code/order@v2/9f86d081…      code that some process has loaded
          definition  default  graph/orders@v1.0/2c26b46b…  saved in a namespace
"""

from __future__ import annotations

import msgspec

from plait.kernel import values
from plait.kernel.definitions import Description
from plait.kernel.errors import Conflict
from plait.kernel.ids import Millis
from plait.kernel.records import Record, Records

KIND = "definition"

_decoder = msgspec.json.Decoder(Description)


async def put(records: Records, namespace: str, description: Description, at: Millis) -> None:
    """Writes a text. Another process may have written the same one: the id contains the hash of its content."""
    record = Record(KIND, namespace, id_of(description), values.encode(description), at)
    await records.add(record)


async def get(records: Records, namespace: str, id: str) -> Description:
    record = await records.get(KIND, namespace, id)
    if record is None:
        raise damaged(KIND, id, "it is missing")
    return read(record)


def read(record: Record) -> Description:
    try:
        return _decoder.decode(record.body)
    except msgspec.DecodeError as error:
        raise damaged(KIND, record.id, str(error)) from None


def id_of(description: Description) -> str:
    return document_id(description.dialect, description.name, description.version, description.hash)


def document_id(dialect: str, name: str, version: str, hash: str) -> str:
    return f"{dialect}/{name}@{version}/{hash}"


def damaged(kind: str, id: str, why: str) -> Conflict:
    return Conflict(
        "store.damaged",
        f"the {kind} record `{id}` can't be read",
        why=why,
        fix="restore the database from a backup, or save the definition again under a new version",
    )
