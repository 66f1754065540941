"""The runs in memory: busy, parked, or being loaded from the store.

Parked runs are kept while there is room, so that their next input needs no replay; the one parked longest is evicted
first. A run that is not here costs nothing.
"""

from __future__ import annotations

import logging
from collections import OrderedDict

from .engine_code import EngineCode
from .errors import PlaitError, Unavailable
from .ids import SHARDS, Epoch, RunId, Shard
from .inputs import AnyInput, Cancel
from .leases import Leases
from .loader import Loader, info_of
from .run import Run
from .store import RunRow, Store

log = logging.getLogger("plait.kernel")


Held = list[tuple[AnyInput, str | None]]
"""Inputs with their inbox keys."""


class Unreadable(Exception):
    """This engine can't read what the store has of a run."""

    def __init__(self, run_id: RunId, row: RunRow | None, epoch: Epoch, held: Held) -> None:
        super().__init__(run_id)
        self.run_id = run_id
        self.row = row
        """None: the row itself is unreadable."""
        self.epoch = epoch
        self.held = held


class Elsewhere(Exception):
    """A run is in a pool, or must move to one: this engine lacks its code."""

    def __init__(self, row: RunRow, shard: Shard, epoch: Epoch, held: Held) -> None:
        super().__init__(row.id)
        self.row = row
        self.shard = shard
        """One of our shards, which holds inputs of the run, if not the run itself."""
        self.epoch = epoch
        self.held = held


def ends(request: Cancel, row: RunRow) -> bool:
    """Whether a cancel applies to this run and ends it at once, without compensation."""
    return request.cause == "cancel" and not request.compensate and request.parent in (None, row.parent)


class RunCache:
    def __init__(self, store: Store, loader: Loader, leases: Leases, cache_size: int, code: EngineCode) -> None:
        self._store = store
        self._loader = loader
        self._leases = leases
        self._code = code
        self._cache_size = cache_size
        self.live: dict[RunId, Run] = {}
        """Runs in memory, busy or parked."""
        self._parked: OrderedDict[RunId, None] = OrderedDict()
        self._loading: dict[RunId, Held] = {}

    def get(self, run_id: RunId) -> Run | None:
        return self.live.get(run_id)

    def has(self, run: Run) -> bool:
        """False for a run that was dropped during its commit."""
        return self.live.get(run.id) is run

    def all(self) -> list[Run]:
        return list(self.live.values())

    @property
    def parked(self) -> int:
        """How many runs wait in memory for their next input."""
        return len(self._parked)

    def add_new(self, row: RunRow, epoch: Epoch) -> Run:
        """Adds a run to be created by its first commit."""
        run = self.live[row.id] = self._loader.fresh(info_of(row), epoch, shard=row.shard)
        run.create = row
        return run

    def wake(self, run_id: RunId) -> Run | None:
        """The run, no longer parked."""
        self._parked.pop(run_id, None)
        return self.live.get(run_id)

    def park(self, run: Run) -> None:
        """Parks an idle run; evicts it if it has ended or there is no room."""
        if run.state.status != "running" or self._cache_size == 0:
            self.evict(run)
            return
        self._parked[run.id] = None
        while len(self._parked) > self._cache_size:
            oldest, _ = self._parked.popitem(last=False)
            if (parked := self.live.get(oldest)) is not None and not parked.queued:
                self.evict(parked)

    def evict(self, run: Run) -> None:
        if self.live.get(run.id) is run:
            del self.live[run.id]
            self._parked.pop(run.id, None)
            self._leases.forget(run.id)
        run.machine.close()

    # -- reading from the store ----------------------------------------------------------------------------------

    @property
    def loading(self) -> bool:
        return bool(self._loading)

    def knows(self, run_id: RunId) -> bool:
        """Whether it is in memory or being loaded."""
        return run_id in self.live or run_id in self._loading

    def claim(self, run_id: RunId) -> bool:
        """Whether the caller must load this run: no one does yet. From now on inputs for it are held."""
        if self.knows(run_id):
            return False
        self._loading[run_id] = []
        return True

    def hold(self, run_id: RunId, input: AnyInput, key: str | None) -> None:
        """Keeps an input until its run is loaded."""
        self._loading[run_id].append((input, key))

    async def load(self, run_id: RunId, row: RunRow | None = None) -> tuple[Run | None, Held]:
        """Loads a run that the caller has claimed, and returns it with the inputs held for it. None if it does not
        exist or is not ours. If the store is unavailable, it stays claimed, with its inputs, for the next try."""
        run = await self._build(run_id, row)
        while run is not None and self._leases.epoch(run.shard) != run.epoch:
            # Its shard was lost meanwhile. If it was regained, the takeover relied on this load
            run = await self._build(run_id, None) if self._leases.owns(run_id) else None
        held = self._loading.pop(run_id)
        if run is not None and (made := self.live.setdefault(run_id, run)) is not run:  # it is being created here
            made.read_meanwhile = True
            run = made
        return run, held

    async def _build(self, run_id: RunId, row: RunRow | None) -> Run | None:
        shard = self._leases.shard_of(run_id) if row is None else row.shard
        epoch = self._leases.epoch(shard)
        if epoch is None and not self._leases.mixed:
            return None
        try:
            row = row or await self._store.run(run_id)
            if row is None:
                return None
            elsewhere = self._is_elsewhere(row) and shard < SHARDS
            if elsewhere and epoch is not None and not self._is_cancelled(row):
                raise Elsewhere(row, shard, epoch, self._loading.pop(run_id))
            if row.shard != shard:
                epoch = self._leases.epoch(row.shard)
            if epoch is None:
                return None
            self._leases.note(run_id, row.shard)
            run = await self._loader.load(row, epoch)
            if elsewhere and run.state.rolling_back:  # compensation needs its code
                run.machine.close()
                raise Elsewhere(row, shard, epoch, self._loading.pop(run_id))
        except (Unavailable, Elsewhere):
            raise
        except Exception as error:  # of another release, or a dialect with a bug: it must not harm its neighbours
            log.error("run %s can't be taken up: %s", run_id, error, exc_info=not isinstance(error, PlaitError))
            raise Unreadable(run_id, row, epoch or Epoch(0), self._loading.pop(run_id)) from error
        return run

    def _is_cancelled(self, row: RunRow) -> bool:
        """Whether a run of this shard is being cancelled, which needs none of its code."""
        held = self._loading.get(row.id, ())
        return row.shard < SHARDS and any(isinstance(input, Cancel) and ends(input, row) for input, _ in held)

    def _is_elsewhere(self, row: RunRow) -> bool:
        """Whether only engines of a pool can own a run, and this one does not have its shard."""
        if self._store.fleet is None:
            return False
        if row.shard >= SHARDS:
            return row.shard not in self._leases
        return self._code.missing(row.dialect, row.definition, row.version) is not None
