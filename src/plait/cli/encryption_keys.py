"""`plait keys master`, `data` and `rotate`: the keys that encrypt values, on the database itself."""

from __future__ import annotations

from typing import Annotated

import typer

from plait.api.encryption import DataKeyList, DataKeyShape, Rotation
from plait.extras import extra
from plait.kernel.ids import DEFAULT_NAMESPACE

from . import words
from .audited import note_change
from .options import DEFAULT_DB, Db, Json
from .output import emit, note, say, table
from .session import do, looking

Of = Annotated[str, typer.Option("--namespace", "-n", metavar="NAME", help="Whose values.")]


def master(json: Json = False) -> None:
    """Generate a master key for PLAIT_ENCRYPTION_KEY. It is printed once, and not stored."""
    with extra("encryption", "`plait keys master`"):
        from plait.codec.key_ring import new_master_key
    key = new_master_key()
    if json:
        emit({"key": key})
        return
    say(key)
    note("keep it where backups of the database are not: without it, nothing can be read", "yellow")


def data(db: Db = DEFAULT_DB, json: Json = False) -> None:
    """List the data keys that values are encrypted with; the keys themselves are not shown."""
    found = do(_listed(db))
    if json:
        emit(found)
        return
    note(f"master key {found.master}")
    rows = [(key.id, key.namespace, key.subject or "", _wrapped_by(key)) for key in found.keys]
    table(("ID", "NAMESPACE", "SUBJECT", "WRAPPED BY"), rows, fold=("SUBJECT",))


def rotate(namespace: Of = DEFAULT_NAMESPACE, db: Db = DEFAULT_DB, json: Json = False) -> None:
    """Encrypt with a new data key from now on. Existing values stay readable with the old one."""
    made = do(_rotate(db, namespace))
    if json:
        emit(made)
        return
    say(f"values of {made.namespace} are encrypted with key {made.key} from now on")
    if made.rewrapped:
        say(f"{words.counted(made.rewrapped, 'key')} wrapped by master key {made.master}: remove the older one")


async def _listed(db: str) -> DataKeyList:
    async with looking(db) as engine:
        return await engine.encryption.keys()


async def _rotate(db: str, namespace: str) -> Rotation:
    async with looking(db) as engine:
        made = await engine.encryption.rotate(namespace)
        await note_change(engine, "encryption.rotate", made.key, namespace)
        return made


def _wrapped_by(key: DataKeyShape) -> str:
    return key.wrapped_by if key.erased_at is None else f"erased {words.clock(key.erased_at)}"
