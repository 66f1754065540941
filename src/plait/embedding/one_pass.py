"""One pass of an embedded run: the kernel around a single run, for as long as there is something to do."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, NoReturn

import msgspec

from plait.dialects.code.bundle import CodeBundle
from plait.dialects.code.definition import Workflow
from plait.kernel.clock import Clock
from plait.kernel.errors import Conflict, LeaseLost, PlaitError
from plait.kernel.ids import Ids, Millis, RunId, shard_of
from plait.kernel.inputs import AnyInput, Message
from plait.kernel.kernel import Kernel, Settings
from plait.kernel.limits import Limits
from plait.kernel.replies import REFUSAL
from plait.kernel.store import RunRow, Taken
from plait.workers.local import LocalWorker

from .driver import Driver
from .inbox import append, appending
from .mirror import Mirror
from .store import EVICTED, KvStore

_WHOLE = 1 << 62
"""Keeps all values in their events: there is no other place for them."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What all passes of a run have in common."""

    workflow_id: str
    run_id: RunId
    definition: Workflow[..., Any]
    input: Any
    driver: Driver
    clock: Clock
    ids: Ids

    def bundle(self) -> CodeBundle:
        return CodeBundle([self.definition], embedded=True)


class Pass:
    def __init__(self, setup: Setup, request: AnyInput | None, *, live: bool) -> None:
        self._setup = setup
        self._request = request
        self._live = live
        self._mirror = Mirror(setup.run_id)
        self._kernel: Kernel | None = None
        self._store: KvStore | None = None
        self._ready = asyncio.Event()
        self._feeding = 0
        """The number of messages that the run has not yet decided about."""
        self.evicted = False
        self.answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Resolved once the request was accepted; fails with its refusal."""

    async def run(self) -> Mirror:
        """Runs the pass; returns the run's state at its end."""
        try:
            await self._run()
        except BaseException as error:
            self._answer(error)
            raise
        finally:
            self._ready.set()
        self._answer(None)
        return self._mirror

    async def _run(self) -> None:
        driver = self._setup.driver
        pairs = await driver.list(b"")
        known = self._mirror.load(pairs)
        if await driver.get(EVICTED) is not None:
            await driver.delete(EVICTED)
        if not known or self._request is not None or self._mirror.state.status == "running":
            await self._play(known=known)

    async def _play(self, *, known: bool) -> None:
        setup = self._setup
        store = self._store = KvStore(setup.run_id, setup.workflow_id, self._mirror, setup.driver, setup.clock)
        kernel = self._open_kernel(store)
        await store.open()
        try:
            if known:
                await store.place(self._row())
            await kernel.open()
            if not known:
                await self._start(kernel, store)
            self._kernel = kernel
            self._ready.set()
            await self._until_over(store, live=self._live)
        finally:
            self._kernel = None
            await kernel.crash()
            await store.dispose()

    def _open_kernel(self, store: KvStore) -> Kernel:
        setup = self._setup
        worker = LocalWorker(setup.clock)
        return Kernel(
            store,
            {"code": setup.bundle()},
            worker,
            _no_children,
            clock=setup.clock,
            ids=setup.ids,
            limits=Limits(blob_threshold=_WHOLE),
            settings=Settings(owner=setup.workflow_id, lease_ttl=Millis(3_600_000)),
        )

    async def _start(self, kernel: Kernel, store: KvStore) -> None:
        """Creates the run. If the first batch fails, the kernel never answers."""
        setup = self._setup
        resolved = await setup.bundle().resolve(setup.definition, setup.input, "default")
        start = resolved.start("code", setup.ids.seed(), None, {})
        await self._unless_stopped(kernel.create(self._row(), start), store)
        if store.standing in ("moving", "parked") and store.failure is None:
            for message in self._mirror.early():
                await self._feed(kernel, message)

    def _row(self) -> RunRow:
        setup, status = self._setup, self._mirror.state.status
        return RunRow(
            id=setup.run_id,
            namespace="default",
            dialect="code",
            definition=setup.definition.name,
            version=setup.definition.version,
            shard=shard_of(setup.run_id),
            status=status,
            awake=status == "running",
            created_at=self._mirror.history.created_at or setup.clock.now(),
        )

    async def _until_over(self, store: KvStore, *, live: bool) -> None:
        if self._request is not None:
            if not await self._unless_stopped(self.ask(self._request), store):
                self._raise(store)
                self._answer(LeaseLost("the run was evicted"))
            self._answer(None)
        while not self._is_over(store, live=live):
            store.changed.clear()
            await store.changed.wait()
        self._raise(store)

    async def _unless_stopped(self, doing: Coroutine[Any, Any, Any], store: KvStore) -> bool:
        """Awaits `doing`; returns whether it finished before a batch failed or the run was evicted."""
        work, stopped = asyncio.ensure_future(doing), asyncio.ensure_future(self._stopped(store))
        await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        await asyncio.gather(stopped, return_exceptions=True)
        if work.done():
            await work
            return True
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        return False

    async def _stopped(self, store: KvStore) -> None:
        while store.failure is None and store.standing != "evicted":
            store.changed.clear()
            await store.changed.wait()

    def _is_over(self, store: KvStore, *, live: bool) -> bool:
        if store.failure is not None or store.standing in ("ended", "blocked", "evicted"):
            return True
        due = min(self._mirror.timers().values(), default=None)
        rings = due is not None and due <= self._setup.clock.now()
        return store.standing == "parked" and not (live or rings or self._feeding)

    def _raise(self, store: KvStore) -> None:
        self.evicted = store.standing == "evicted"
        if store.failure is not None:
            raise store.failure
        if store.standing == "blocked":
            raise self._blocked()

    def _blocked(self) -> PlaitError:
        kernel, setup = self._kernel, self._setup
        run = None if kernel is None else kernel.run_cache.get(setup.run_id)
        if run is None or run.blocked is None:
            return Conflict("CODE_DIVERGED", f"run {setup.workflow_id} is blocked")
        return setup.bundle().blocked(setup.workflow_id, run.blocked)

    def leave(self) -> None:
        """It is evicted. A pass that waits may have no next batch at which it would see that."""
        store = self._store
        if store is not None and store.standing == "parked":
            store.standing = "evicted"
            store.changed.set()

    # -- from outside --------------------------------------------------------------------------------------------

    async def tell(self, message: Message) -> bool:
        """Stores a message and sends it to the run; returns False if the pass is over. A message stored just as the
        pass ends is left for the next one."""
        await self._ready.wait()
        mirror, driver = self._mirror, self._setup.driver
        async with appending(driver):
            kernel = self._kernel
            if kernel is None or mirror.state.status != "running":
                return False
            if mirror.knows(message.id):
                return True
            mirror.expect(message.id, *await append(driver, message, mirror.last_message))
            if self._kernel is not kernel:
                return True
            try:
                answered = await self._feed(kernel, message)
            except LeaseLost:
                return True  # the pass is over, and the next one reads it
        await answered
        return True

    async def _feed(self, kernel: Kernel, message: Message) -> asyncio.Task[None]:
        """The returned task is done once the run has decided about the message; until then the pass goes on."""
        self._feeding += 1
        try:
            await kernel.send(self._setup.run_id, message, message.id)
        except BaseException:
            self._feeding -= 1
            raise
        return asyncio.ensure_future(self._heard(kernel, message.id))

    async def _heard(self, kernel: Kernel, key: str) -> None:
        try:
            await kernel.reply(self._setup.run_id, key)
        except LeaseLost:
            pass  # the pass is over
        finally:
            self._feeding -= 1
            if self._store is not None:
                self._store.changed.set()

    async def ask(self, request: AnyInput) -> bool:
        """Sends an input to the run, and raises its refusal; returns False if the pass is over."""
        if request is not self._request:
            await self._ready.wait()
        kernel, key = self._kernel, self._setup.ids.key()
        if kernel is None:
            return False
        try:
            await kernel.send(self._setup.run_id, request, key)
            _raise_refusal(await kernel.reply(self._setup.run_id, key))
        except LeaseLost:
            if self._store is not None and self._store.failure is not None:
                raise self._store.failure from None
            if self.evicted:
                raise
            return False
        return True

    def _answer(self, error: BaseException | None) -> None:
        if self.answered.done():
            return
        if error is None:
            self.answered.set_result(None)
        else:
            self.answered.set_exception(error)
            self.answered.exception()  # retrieved here because nobody may be waiting for it


def _raise_refusal(taken: Taken) -> None:
    if taken.reply is not None and taken.reply.startswith(REFUSAL):
        error = msgspec.json.decode(taken.reply)["error"]
        what, why, fix = (*map(str, error.get("args", [])[1:]), "", "", "")[:3]
        raise Conflict(error["code"], what or error["message"], why=why, fix=fix)


async def _no_children(dialect: str, definition: Any, input: object, namespace: str) -> NoReturn:
    raise AssertionError("an embedded run has no children")
