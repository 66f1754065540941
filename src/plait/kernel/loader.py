"""Builds a live run from the store: the latest snapshot and the events after it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Iterable, Mapping
from typing import Any, Union

import msgspec
from msgspec import Raw

from . import blob_parts
from .blobs import read_blob
from .bundle import Bundle
from .errors import Conflict, Damaged, NotFound
from .events import Event, KernelEvent, Recorded
from .ids import Epoch, Ids, Millis, RunId, Seq, Shard, caller_id
from .limits import Limits
from .log_check import check_places, damaged_log, decode_events
from .machine import Machine, NeedsCode, RunInfo
from .notice import Notify, by_service
from .pools import Code
from .run import Run
from .snapshots import SnapshotBody, compacted, state_at
from .store import LogRow, RunRow, Snapshot, Store

log = logging.getLogger("plait.kernel")


_snapshot = msgspec.json.Decoder(SnapshotBody)
_plain = msgspec.json.Decoder(list[dict[str, Any]])
_TRIES = 3
"""Tries to read a snapshot and the events after it while the run's owner may be compacting them."""


class Loader:
    def __init__(
        self,
        store: Store,
        bundles: Mapping[str, Bundle],
        ids: Ids,
        limits: Limits,
        notify: Notify = by_service,
        queues: Mapping[str, str] | None = None,
        code: Code | None = None,
    ) -> None:
        self._store = store
        self._bundles = bundles
        self._ids = ids
        self._limits = limits
        self._notify = notify
        self._queues = queues
        self._code = code
        self._needing: dict[type[Machine], bool] = {}
        """Whether a type of machine calls functions by name."""
        self._decoders: dict[str, msgspec.json.Decoder[list[Any]]] = {}

    async def load(self, row: RunRow, epoch: Epoch, upto: int | None = None) -> Run:
        """The run as it is, or as it was after event number `upto`."""
        run, rows = await self._read(info_of(row), epoch, upto)
        run.adopt(row)
        check_places(row.id, run.state.seq, rows)
        for at, seq, event in await self._events(row.id, row.dialect, rows):
            if seq > run.state.seq and (upto is None or seq <= upto):
                run.fold(event, at)
        return run

    async def replay(self, row: RunRow) -> AsyncIterator[tuple[Run, list[Event], Millis]]:
        """Yields the run after each of its decisions, with the decision's events, from the first. It is one object,
        which is updated."""
        info, rows = info_of(row), await self._store.log(row.id)
        run = self.fresh(info, Epoch(0))
        run.adopt(row)
        if gone := [each for each in rows[:2] if each.is_compacted]:
            raise compacted(info, 1, gone[0].seq + gone[0].count - 1)
        check_places(row.id, 0, rows)
        for each in rows:
            events = [event for _, _, event in await self._events(row.id, row.dialect, [each])]
            for event in events:
                run.fold(event, each.at)
            yield run, events, each.at

    async def _read(self, info: RunInfo, epoch: Epoch, upto: int | None) -> tuple[Run, list[LogRow]]:
        """A base state, and the events after it."""
        for _ in range(_TRIES):
            snapshot = await self._store.snapshot(info.run_id)
            run = (snapshot and self._restored(info, epoch, snapshot, upto)) or self.fresh(info, epoch)
            rows = await self._store.log(info.run_id, Seq(run.state.seq), None if upto is None else Seq(upto))
            if not any(row.is_compacted for row in rows[:2]):
                return run, rows
        raise Conflict(
            "kernel.unreadable_snapshot",
            f"run {caller_id(info.run_id)} can't be read by this engine",
            why="its old events were compacted into a snapshot that is damaged, or that another release wrote",
            fix="use the Plait release that wrote it, or a newer one",
        )

    def _restored(self, info: RunInfo, epoch: Epoch, snapshot: Snapshot, upto: int | None) -> Run | None:
        """The run at a snapshot; None if that is damaged or of another release: usually it only saves time, and the
        events are there."""
        try:
            body = _snapshot.decode(snapshot.body)
            base = state_at(snapshot, body, upto, info)
            if base is None:
                return None
            run = self.fresh(info, epoch, self.bundle(info.dialect).restore(info, base.machine))
        except msgspec.DecodeError as error:
            log.warning("the snapshot of run %s can't be read, so all its events are: %s", info.run_id, error)
            return None
        run.restore(base, body)
        return run

    def fresh(self, info: RunInfo, epoch: Epoch, machine: Machine | None = None, shard: Shard | None = None) -> Run:
        machine = machine or self.bundle(info.dialect).machine(info)
        run = Run(info, machine, self._ids, self._limits, epoch, self._notify, self._queues, shard)
        if self._store.fleet is not None and self._needs_code(machine):
            run.code = self._code
        return run

    def _needs_code(self, machine: Machine) -> bool:
        """Cached, because checking a protocol is slow."""
        found = self._needing.get(type(machine))
        if found is None:
            found = self._needing[type(machine)] = isinstance(machine, NeedsCode)
        return found

    def bundle(self, name: str) -> Bundle:
        try:
            return self._bundles[name]
        except KeyError:
            raise NotFound(
                "kernel.no_dialect", f"this engine has no dialect `{name}`", fix="use a newer Plait"
            ) from None

    def _decoder(self, dialect: str) -> msgspec.json.Decoder[list[Any]]:
        found = self._decoders.get(dialect)
        if found is None:
            events = self.bundle(dialect).events
            found = self._decoders[dialect] = msgspec.json.Decoder(list[Union[events, KernelEvent]])  # noqa: UP007
        return found

    async def _events(self, run_id: RunId, dialect: str, rows: Iterable[LogRow]) -> list[tuple[Millis, int, Event]]:
        decoder = self._decoder(dialect)
        found: list[tuple[Millis, int, Event]] = []
        for row in rows:
            try:
                events: list[Any] = decode_events(run_id, row, decoder.decode)
            except msgspec.ValidationError as error:
                raise Conflict(
                    "kernel.unreadable_event",
                    f"event {row.seq} can't be read by this engine",
                    why=str(error),
                    fix="use the Plait release that wrote it, or a newer one",
                ) from error
            if row.blobs is not None:
                await _put_back(run_id, row, self._inflate(events, row.blobs))
            found += [(row.at, row.seq + index, event) for index, event in enumerate(events)]
        return found

    async def _inflate(self, events: list[Any], refs: str) -> None:
        for index, field, key, digest in blob_parts.places(refs):
            body = Raw(await read_blob(self._store, digest))
            event = events[index]
            if key is not None:
                held = bytes(getattr(event, field))
                body = blob_parts.join(held, blob_parts.split(held) | {key: body})
            events[index] = msgspec.structs.replace(event, **{field: body})


async def recorded(
    store: Store, run_id: RunId, after: int = 0, limit: int | None = None, upto: int | None = None
) -> list[Recorded]:
    """Events as plain data, for readers of any dialect."""
    found: list[Recorded] = []
    rows = await store.log(run_id, Seq(after), None if upto is None else Seq(upto), limit)
    check_places(run_id, after, rows)
    for row in rows:
        if row.is_compacted:  # numbered as the last event that it replaces
            found.append(Recorded(row.seq + row.count - 1, row.at, "log.compacted", {"events": row.count}))
            continue
        events = _plain_events(run_id, row)
        if row.blobs is not None:
            await _put_back(run_id, row, _put_blobs(store, events, row.blobs))
        for index, event in enumerate(events):
            if row.seq + index > after and (upto is None or row.seq + index <= upto):
                found.append(Recorded(row.seq + index, row.at, event.pop("type"), event))
        if limit is not None and len(found) >= limit:
            return found[:limit]
    return found


async def _put_blobs(store: Store, events: list[dict[str, Any]], refs: str) -> None:
    for index, field, key, digest in blob_parts.places(refs):
        blob_parts.put(events[index], field, key, msgspec.json.decode(await read_blob(store, digest)))


async def _put_back(run_id: RunId, row: LogRow, putting: Awaitable[None]) -> None:
    """Puts large values back. A missing one, or an unreadable list of them, is damage."""
    try:
        await putting
    except (Damaged, NotFound, LookupError, ValueError) as error:
        raise damaged_log(run_id, f"a large value of event {row.seq} can't be read: {error}") from error


def _plain_events(run_id: RunId, row: LogRow) -> list[dict[str, Any]]:
    try:
        events = decode_events(run_id, row, _plain.decode)
    except msgspec.ValidationError as error:
        raise damaged_log(run_id, f"the row of event {row.seq} holds no events: {error}") from error
    if not all("type" in event for event in events):
        raise damaged_log(run_id, f"an event of the row of event {row.seq} has no type")
    return events


def info_of(row: RunRow) -> RunInfo:
    return RunInfo(
        run_id=row.id,
        namespace=row.namespace,
        dialect=row.dialect,
        definition=row.definition,
        version=row.version,
        parent=row.parent,
        parent_token=row.parent_token,
        depth=row.depth,
        deadline=row.deadline,
        labels=row.labels,
        created_at=row.created_at,
    )
