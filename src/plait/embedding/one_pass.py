"""One pass of an embedded run: the kernel around one run, for as long as there is something to do."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, NoReturn

import msgspec

from plait.dialects.code.bundle import CodeBundle
from plait.dialects.code.definition import Workflow
from plait.dialects.code.message_queue import QueuedMessage
from plait.kernel.clock import Clock
from plait.kernel.errors import Conflict, PlaitError
from plait.kernel.ids import Ids, Millis, RunId, shard_of
from plait.kernel.inputs import AnyInput, Message
from plait.kernel.kernel import Kernel, Settings
from plait.kernel.limits import Limits
from plait.kernel.replies import REFUSAL
from plait.kernel.store import RunRow, Taken
from plait.workers.local import LocalWorker

from .driver import Driver
from .entries import message_of
from .keys import MESSAGES, pack
from .mirror import Mirror
from .store import EVICTED, KvStore

_WHOLE = 1 << 62
"""Values stay in their events: there is no place for them elsewhere."""


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
        self._sent = 0
        self.evicted = False
        self.answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """That the request was taken; what the run has against it."""

    async def run(self) -> Mirror:
        """The run as it stands at the end of the pass."""
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
        if not known:
            await self._play(known=False, live=self._live and not pairs)
            if not pairs or self._store is None or self._store.standing != "parked":
                return
            self._mirror = Mirror(self._setup.run_id)  # for messages that were sent before the start
            self._mirror.load(await driver.list(b""))
        if self._request is not None or self._mirror.state.status == "running":
            await self._play(known=True, live=self._live)

    async def _play(self, *, known: bool, live: bool) -> None:
        setup = self._setup
        store = self._store = KvStore(setup.run_id, setup.workflow_id, self._mirror, setup.driver, setup.clock)
        kernel = self._open_kernel(store)
        await store.open()
        try:
            if known:
                await store.place(self._row())
            await kernel.open()
            if not known:
                await self._start(kernel)
            self._kernel = kernel
            if known or live:
                self._ready.set()
            await self._until_over(store, live=live)
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

    async def _start(self, kernel: Kernel) -> None:
        """The first batch may fail: then nobody answers."""
        setup = self._setup
        resolved = await setup.bundle().resolve(setup.definition, setup.input, "default")
        start = resolved.start("code", setup.ids.seed(), None, {})
        self._creating = asyncio.ensure_future(kernel.create(self._row(), start))
        self._creating.add_done_callback(lambda task: task.cancelled() or task.exception())

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
            asking = asyncio.ensure_future(self.ask(self._request))
            stopped = asyncio.ensure_future(self._stopped(store))
            await asyncio.wait({asking, stopped}, return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            await asyncio.gather(stopped, return_exceptions=True)
            if not asking.done():
                asking.cancel()
                self._raise(store)
            await asking
            self._answer(None)
        while not self._is_over(store, live=live):
            store.changed.clear()
            await store.changed.wait()
        self._raise(store)

    async def _stopped(self, store: KvStore) -> None:
        while store.failure is None and store.standing != "evicted":
            store.changed.clear()
            await store.changed.wait()

    def _is_over(self, store: KvStore, *, live: bool) -> bool:
        if store.failure is not None or store.standing in ("ended", "blocked", "evicted"):
            return True
        due = min(self._mirror.timers().values(), default=None)
        rings = due is not None and due <= self._setup.clock.now()
        return store.standing == "parked" and not (live or rings)

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

    # -- from outside --------------------------------------------------------------------------------------------

    async def tell(self, message: Message) -> bool:
        """Writes a message and feeds it to the run; False if the pass is over."""
        await self._ready.wait()
        kernel, history = self._kernel, self._mirror.history
        if kernel is None:
            return False
        if message.id in history.seen:
            return True
        self._sent = max(self._sent, history.arrivals) + 1
        queued = QueuedMessage(message.id, message.name, message.body, message.sent_at)
        await self._setup.driver.set(pack(MESSAGES, self._sent), message_of(queued))
        await kernel.send(self._setup.run_id, message, message.id)
        return True

    async def ask(self, request: AnyInput) -> bool:
        """Gives the run an input, and raises what it has against it; False if the pass is over."""
        if request is not self._request:
            await self._ready.wait()
        kernel, key = self._kernel, self._setup.ids.key()
        if kernel is None:
            return False
        await kernel.send(self._setup.run_id, request, key)
        _raise_refusal(await kernel.reply(self._setup.run_id, key))
        return True

    def _answer(self, error: BaseException | None) -> None:
        if self.answered.done():
            return
        if error is None:
            self.answered.set_result(None)
        else:
            self.answered.set_exception(error)
            self.answered.exception()  # nobody may be there to ask


def _raise_refusal(taken: Taken) -> None:
    if taken.reply is not None and taken.reply.startswith(REFUSAL):
        error = msgspec.json.decode(taken.reply)["error"]
        what, why, fix = (*map(str, error.get("args", [])[1:]), "", "", "")[:3]
        raise Conflict(error["code"], what or error["message"], why=why, fix=fix)


async def _no_children(dialect: str, definition: Any, input: object, namespace: str) -> NoReturn:
    raise AssertionError("an embedded run has no children")
