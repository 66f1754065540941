"""`engine.retention`: how long ended runs are kept, and their removal.

Each namespace has rules: how long after its end a run of a status is removed, and whether it is archived first. Every
minute, each engine checks the runs of its own shards, and those whose code no engine has. A round removes a few runs
per commit, and lets the run loop run in between; a run that is reopened meanwhile stays.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterator

import msgspec
from msgspec import Raw

from plait.api.audit import AUDIT
from plait.api.retention import KEEP_ALL, STATUSES, RetentionRules
from plait.codec.key_trims import KeyTrims, note_unused
from plait.kernel import values
from plait.kernel.clock import sleep
from plait.kernel.errors import Damaged, InvalidInput, PlaitError, Unavailable
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis, RunId, Shard, check_namespace
from plait.kernel.kernel import Kernel
from plait.kernel.records import Record, RecordChange, Records, read_body
from plait.kernel.removal import EndedQuery
from plait.kernel.store import Store, Write
from plait.stores.archive.archive import Archive
from plait.stores.archive.archived_run import encode
from plait.stores.archive.names import name_of

from .abandoned_pools import AbandonedPools
from .archiving import gathered
from .record_trims import RecordTrims

log = logging.getLogger("plait.retention")

EVERY = 60.0
"""Seconds between two rounds."""
_KIND = "retention"
_NOWHERE = ""
"""Namespace of audit entries that belong to none: refused strangers, and administrators of all namespaces."""
_PAGE = 500
_AT_ONCE = 100
"""Runs removed by one commit."""
_ROWS = 500
"""Rows that are deleted at a time."""
_UNWRITABLE = "archive.unwritable"
_LOST = 3_600_000
"""Milliseconds after which an input for a missing run is deleted."""


class Retention:
    def __init__(
        self, kernel: Kernel, records: Records, stored: Store, dialects: Collection[str], archive: Archive | None
    ) -> None:
        self._kernel = kernel
        self._records = records
        self._stored = stored
        self._trims = RecordTrims(records, stored)
        self._keys = KeyTrims(stored, kernel.clock)
        self._pools = AbandonedPools(kernel)
        self._dialects = dialects
        self.archive = archive
        self._task: asyncio.Task[None] | None = None
        self._warned: set[str] = set()

    # -- rules ---------------------------------------------------------------------------------------------------

    async def get(self, namespace: str = DEFAULT_NAMESPACE) -> RetentionRules:
        found = await self._records.get(_KIND, check_namespace(namespace), namespace)
        return KEEP_ALL if found is None else read_body(found, RetentionRules)

    async def set(self, rules: RetentionRules, namespace: str = DEFAULT_NAMESPACE) -> RetentionRules:
        """Sets rules for all runs of the namespace, including ended ones; durable when this returns."""
        try:
            rules = msgspec.convert(msgspec.to_builtins(rules), RetentionRules)
        except msgspec.ValidationError as error:
            raise InvalidInput("retention.bad_rules", "the rules can't be used", why=str(error)) from None
        at = self._kernel.clock.now()
        await self._records.put(Record(_KIND, check_namespace(namespace), namespace, Raw(values.plain(rules)), at))
        return rules

    async def all(self) -> dict[str, RetentionRules]:
        """All rules by namespace."""
        found: dict[str, RetentionRules] = {}
        after = None
        while page := await self._records.list(_KIND, after=after, limit=_PAGE):
            for record in page:
                try:
                    found[record.namespace] = read_body(record, RetentionRules)
                except Damaged as error:
                    log.error("nothing of namespace %s is removed: %s", record.namespace, error)
            after = page[-1].id
        return {namespace: rules for namespace, rules in found.items() if rules != KEEP_ALL}

    # -- life ----------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._keep_on(), name="plait.retention")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _keep_on(self) -> None:
        while True:
            await sleep(self._kernel.clock, EVERY)
            try:
                await self.apply()
            except PlaitError as error:
                log.warning("runs whose time is over stay for now: %s", error)

    # -- a round -------------------------------------------------------------------------------------------------

    async def apply(self) -> int:
        """Removes what is due now, of the shards that this engine owns or nobody can; says how many runs went. Raises
        `archive.unwritable` once all is done that needs no archive."""
        now, removed, away = self._kernel.clock.now(), 0, None
        await self._pools.look()
        await self._pools.free_slots()
        await self._pools.send_cancelled_home()
        await self._kernel.task_logs.flush()  # lines written after the removal of their run would never be deleted
        for namespace, rules in (await self.all()).items():
            try:
                if away is None or not rules.archive:  # it need not be asked again for each namespace
                    removed += await self._apply_rules(namespace, rules, now)
            except Unavailable as error:
                if error.code != _UNWRITABLE:
                    raise
                away = error
            if rules.audit is not None:
                for place in (namespace, _NOWHERE) if namespace == DEFAULT_NAMESPACE else (namespace,):
                    await self._trim_audit(place, Millis(now - rules.audit))
        await self._sweep()
        await self._remove_lost_inputs(Millis(now - _LOST))
        await self._pools.remove_emptied()
        await self._trims.apply(now)
        await self._keys.apply()
        if away is not None:
            raise away
        return removed

    async def _sweep(self) -> None:
        """Deletes the remains of removed runs, including those removed by a dead engine."""
        left = True
        while left:
            left = await self._kernel.store.removals.sweep(_ROWS)
            await asyncio.sleep(0)  # let the run loop run

    async def _remove_lost_inputs(self, before: Millis) -> None:
        """Deletes inputs from children that ended after their parent was removed: they would be read again and
        again."""
        found = [RunId("")] * _ROWS
        while len(found) == _ROWS:
            found = await self._kernel.store.removals.remove_lost_inputs(self._shards(), before, _ROWS)
            for run_id in dict.fromkeys(found):
                self._kernel.delivery.gone(run_id)

    async def _apply_rules(self, namespace: str, rules: RetentionRules, now: Millis) -> int:
        if rules.archive and self.archive is None:
            self._warn(namespace, "its runs are to be archived, but this engine has no archive (PLAIT_ARCHIVE)")
            return 0
        total = 0
        while removed := sum([await self._remove(query, rules) for query in self._queries(namespace, rules, now)]):
            total += removed  # once more: children can go once their parents are gone
        return total

    def _queries(self, namespace: str, rules: RetentionRules, now: Millis) -> Iterator[EndedQuery]:
        for status in STATUSES:
            age = rules.age(status)
            if age is not None:
                for dialect in self._dialects:
                    shards = self._shards()
                    before = Millis(now - age)
                    yield EndedQuery(namespace=namespace, dialect=dialect, status=status, before=before, shards=shards)

    def _shards(self) -> set[Shard]:
        return self._kernel.leases.shards | self._pools.shards

    async def _remove(self, query: EndedQuery, rules: RetentionRules) -> int:
        """Removes everything that a query finds, page by page."""
        removed = 0
        while True:
            page = await self._kernel.store.removals.ended(query)
            found = list(zip(page.runs, page.shards, strict=True))
            for first in range(0, len(found), _AT_ONCE):
                removed += await self._remove_some(dict(found[first : first + _AT_ONCE]), query.before, rules)
            if page.next is None:
                return removed
            query = msgspec.structs.replace(query, after=page.next)

    async def _remove_some(self, runs: dict[RunId, Shard], before: Millis, rules: RetentionRules) -> int:
        shards, known = self._shards(), self._kernel.run_cache.knows
        free = [run_id for run_id, shard in runs.items() if shard in shards and not known(run_id)]
        ready = [run_id for run_id in free if not rules.archive or await self._archive(run_id)]
        deleted = _ROWS
        while deleted == _ROWS:
            deleted = await self._kernel.store.removals.shrink(ready, before, _ROWS)
            await asyncio.sleep(0)  # let the run loop run
        abandoned = await self._pools.epochs({runs[run_id] for run_id in ready})
        epochs = {**abandoned, **self._kernel.leases.epochs}  # it may have lost some
        unused = {} if rules.archive else await self._unused_keys(ready)
        writes = [
            Write(run_id, runs[run_id], epochs[runs[run_id]], removal=before, records=unused.get(run_id, ()))
            for run_id in ready
            if runs[run_id] in epochs and not known(run_id)
        ]
        return (await asyncio.gather(*map(self._kernel.append, writes))).count("ok")

    async def _unused_keys(self, run_ids: Collection[RunId]) -> dict[RunId, list[RecordChange]]:
        """Marks the keys that may be deleted some time after these runs."""
        if self._kernel.store is self._stored:  # not encrypted
            return {}
        now = self._kernel.clock.now()
        rows = [row for row in await asyncio.gather(*map(self._stored.run, run_ids)) if row is not None]
        return {row.id: note_unused(row, now) for row in rows}

    async def _archive(self, run_id: RunId) -> bool:
        """Archives a run; False if it must stay because it can't be read."""
        assert self.archive is not None
        try:
            found = await gathered(run_id, self._kernel.store, self._stored)
            if found is None:
                return False
            await self._keys.keep(found.row)
            await self.archive.put(name_of(found.row), await asyncio.to_thread(encode, found))
            return True
        except PlaitError as error:
            if error.code == _UNWRITABLE:
                raise
            self._warn(run_id, f"it can't be archived, and stays: {error}")
            return False

    async def _trim_audit(self, namespace: str, before: Millis) -> None:
        """Deletes old audit entries. They are named by their time: the oldest come first."""
        while page := await self._records.list(AUDIT, namespace, limit=_AT_ONCE):
            old = [entry for entry in page if entry.at <= before]
            await asyncio.gather(*(self._records.remove(AUDIT, namespace, entry.id) for entry in old))
            if len(old) < _AT_ONCE:
                return

    def _warn(self, whose: str, why: str) -> None:
        """Warns once per cause, not every minute."""
        if whose not in self._warned:
            self._warned.add(whose)
            log.warning("%s: %s", whose, why)
