"""Encryption as an engine uses it: the encrypting store, keys, and the erasure of subjects.

`plait.codec` is imported only if encryption is on: otherwise its packages need not be installed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from plait.api.encryption import DataKeyList, DataKeyShape, Rotation
from plait.api.erasure import Receipt
from plait.codec.errors import KEY, KEY_FILE, encryption_is_off, no_master_key
from plait.codec.key_records import STATE
from plait.extras import extra
from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import Conflict, Erased, InvalidInput
from plait.kernel.ids import DEFAULT_NAMESPACE, RunId, caller_id, check_namespace
from plait.kernel.inputs import Cancel
from plait.kernel.kernel import Kernel
from plait.kernel.store import SUBJECT, RunRow, Store

from .ask import ask

if TYPE_CHECKING:
    from plait.codec.erasure import Erasure
    from plait.codec.key_ring import KeyRing
    from plait.codec.store import EncryptedStore

PATIENCE = 30.0
"""Seconds that cancelled runs of a subject have to end."""
_SHOWN = 5
_LONGEST_SUBJECT = 200


def door_of(
    store: Store, ring: KeyRing | None, clock: Clock, environment: Mapping[str, str] = os.environ
) -> EncryptedStore | None:
    """The encrypting store around a store, if keys are given or configured."""
    if ring is None and not any(environment.get(name) for name in (KEY, KEY_FILE)):
        return None
    with extra("encryption", "encryption"):
        from plait.codec.key_ring import configured_ring
        from plait.codec.store import EncryptedStore
    ring = ring or configured_ring(environment)
    return None if ring is None else EncryptedStore(store, ring, clock)


class Encryption:
    """`engine.encryption`. If it is off, everything but `on` raises or reports that."""

    def __init__(self, kernel: Kernel, door: EncryptedStore | None) -> None:
        self._kernel = kernel
        self._door = door
        self._dropping: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Raises if the database is encrypted and there are no keys."""
        if self._door is not None:
            self._door.keys_changed = self._keys_changed
        elif await self._kernel.store.record(*STATE) is not None:
            raise no_master_key()

    @property
    def on(self) -> bool:
        return self._door is not None

    async def describe(self) -> str:
        """Whether it is on, and with which keys; for `plait doctor`."""
        if self._door is None:
            return "off"
        found = (await self.keys()).keys
        namespaces = [key.id for key in found if key.subject is None]
        subjects = [key for key in found if key.subject is not None]
        erased = sum(key.erased_at is not None for key in subjects)
        return (
            f"on, AES-256-GCM; master key {self._door.keys.master}, data keys {', '.join(namespaces) or 'none yet'}; "
            f"keys of subjects: {len(subjects) - erased:,}, erased: {erased:,}"
        )

    # -- keys --------------------------------------------------------------------------------------------------------

    async def keys(self, namespace: str | None = None) -> DataKeyList:
        """The data keys, of one namespace or of all."""
        store = self._needed()
        found = [
            DataKeyShape(
                id=id,
                namespace=body.namespace,
                subject=body.subject,
                created_at=body.created_at,
                wrapped_by=body.by,
                erased_at=body.erased_at,
            )
            async for id, body in store.keys.all()
            if namespace in (None, body.namespace)
        ]
        return DataKeyList(
            master=store.keys.master, keys=sorted(found, key=lambda key: (key.namespace, key.created_at))
        )

    async def rotate(self, namespace: str = DEFAULT_NAMESPACE) -> Rotation:
        """Creates a new data key for later writes; existing data stays readable. Keys wrapped by an older master key
        are wrapped again by the current one."""
        store = self._needed()
        check_namespace(namespace)
        rewrapped = await store.keys.rewrap()
        key = await store.keys.rotate(namespace)
        return Rotation(namespace=namespace, key=key.name, master=store.keys.master, rewrapped=rewrapped)

    # -- subjects ----------------------------------------------------------------------------------------------------

    async def check(self, namespace: str, subject: str) -> None:
        """Raises for new runs of an erased subject."""
        if self._door is not None and (found := await self.receipt(namespace, subject)) is not None:
            raise Erased.since(found.at, f"subject {subject} was erased, and can't have new runs")

    async def receipt(self, namespace: str, subject: str) -> Receipt | None:
        """The receipt of an erasure; None if the subject was not erased."""
        return await self._erasure().receipt(namespace, subject_text(subject))

    async def receipts(self, namespace: str, *, after: str | None = None, limit: int = 100) -> list[Receipt]:
        """Receipts of all erasures in a namespace, by subject; empty if encryption was never on."""
        return [] if self._door is None else await self._erasure().receipts(namespace, after, limit)

    async def erase(
        self, subject: str, namespace: str = DEFAULT_NAMESPACE, *, by: str = "", cancel: bool = False
    ) -> Receipt:
        """Makes every value of a subject's runs unreadable, for good; durable when this returns. If runs have not ended
        it is refused, or with `cancel` they are cancelled first. Erasing again returns the same receipt."""
        subject, erasure = subject_text(subject), self._erasure()
        if (known := await erasure.receipt(namespace, subject)) is not None:
            return known
        await self._end_runs(erasure, check_namespace(namespace), subject, cancel=cancel)
        receipt = await erasure.erase(namespace, subject, values.text("`by`", by, max_length=400))
        self._needed().forget_keys()
        return receipt

    async def _end_runs(self, erasure: Erasure, namespace: str, subject: str, *, cancel: bool) -> None:
        tried: set[RunId] = set()
        while live := await erasure.live(namespace, subject):
            if not cancel or tried.issuperset(row.id for row in live):
                raise _live(subject, live)
            await asyncio.gather(*(self._cancel(row) for row in live))
            tried.update(row.id for row in live)

    async def _cancel(self, row: RunRow) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                await ask(self._kernel, row.id, Cancel("its subject is erased", False), queued=row.queued)
                await self._kernel.outcome(row.id)
        except TimeoutError:
            raise Conflict(
                "codec.subject_live",
                f"run {caller_id(row.id)} was cancelled, but has not ended after {PATIENCE:g} s",
                why="no engine works on this database, or the run's last step takes long",
                fix="erase again once it has ended; nothing was erased",
            ) from None

    def _keys_changed(self) -> None:
        """A subject was erased, here or elsewhere: drops its runs from memory."""
        if any(SUBJECT in run.info.labels for run in self._kernel.run_cache.all()):
            task = asyncio.get_running_loop().create_task(self._drop_erased(), name="plait.erased")
            self._dropping.add(task)
            task.add_done_callback(self._dropping.discard)

    async def _drop_erased(self) -> None:
        erasure = self._erasure()
        for run in self._kernel.run_cache.all():
            subject = run.info.labels.get(SUBJECT)
            if subject is not None and await erasure.receipt(run.info.namespace, subject) is not None:
                self._kernel.delivery.drop(run)

    def _erasure(self) -> Erasure:
        from plait.codec.erasure import Erasure

        return Erasure(self._needed().inner, self._kernel.clock)

    def _needed(self) -> EncryptedStore:
        if self._door is None:
            raise encryption_is_off()
        return self._door


def subject_text(subject: object) -> str:
    """Checks that a subject can be a label, and a name in a receipt."""
    found = values.text("the subject", subject, max_length=_LONGEST_SUBJECT)
    if not found.strip():
        raise InvalidInput("value.bad_text", "the subject is empty", fix="name one, such as customer:42")
    return found


def _live(subject: str, live: list[RunRow]) -> Conflict:
    names = ", ".join(caller_id(RunId(row.id)) for row in live[:_SHOWN])
    more = f" and {len(live) - _SHOWN} more" if len(live) > _SHOWN else ""
    return Conflict(
        "codec.subject_live",
        f"runs of subject {subject} have not ended: {names}{more}",
        why="they would go on with values that nobody can read",
        fix="wait for them, or cancel them with the erasure (`--cancel`); nothing was erased",
    )
