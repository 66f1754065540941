"""Runs steps on Ray: one named actor per job.

The actor is detached: it outlives the engine that created it, and an engine that takes over the run finds it by its
name. Ray recreates it elsewhere when it loses its process or node. It keeps its step's messages and the end until it is
killed, which stops the step.
"""

from __future__ import annotations

import asyncio
import importlib
import threading
import uuid
from collections.abc import Callable
from typing import Any, Final

from plait.extras import extra
from plait.kernel import values
from plait.kernel.errors import Unavailable

from .call import Said, read_call
from .cluster import Lost
from .remote import perform

_NAMESPACE: Final = "plait"
_LONG_POLL: Final = 10.0
"""Seconds that an actor waits for new messages before it answers."""


class RayCluster:
    def __init__(self, address: str) -> None:
        with extra("ray", "a step on Ray"):
            self._ray: Any = importlib.import_module("ray")
        self._address = address
        self._connecting = asyncio.Lock()
        self._connected = False
        self._ours = False
        """Whether this object made the connection. If another part of the program did, that part closes it as well."""

    async def run(self, name: str, call: bytes, hear: Callable[[bytes], None]) -> bytes:
        await self._connect()
        actor = await asyncio.to_thread(self._actor, name, call)
        born, heard = "", 0
        while True:
            try:
                asked = actor.said.remote(born, heard)
                now, said, end = await asyncio.wrap_future(asked.future())
            except self._ray.exceptions.RayError as error:
                raise Lost(type(error).__name__) from None
            if now != born:  # the actor restarted in another process
                born, heard = now, 0
            heard += len(said)
            for each in said:
                hear(each)
            if end is not None:
                return end

    async def forget(self, name: str) -> None:
        await asyncio.to_thread(self._kill, name)

    async def close(self) -> None:
        if self._ours:
            await asyncio.to_thread(self._ray.shutdown)
        self._connected = self._ours = False

    async def _connect(self) -> None:
        async with self._connecting:
            if not self._connected:
                self._ours = not self._ray.is_initialized()
                await asyncio.to_thread(self._init)
                self._connected = True

    def _init(self) -> None:
        try:
            self._ray.init(
                self._address,
                namespace=_NAMESPACE,
                ignore_reinit_error=True,
                log_to_driver=False,
                logging_level="error",
            )
        except (ConnectionError, OSError, RuntimeError, TimeoutError) as error:
            raise Unavailable(
                "clusters.unreachable",
                f"Ray's cluster at {self._address} does not answer",
                why=str(error).partition("\n")[0],
                fix="start it, or set PLAIT_RAY to where it is",
            ) from None

    def _actor(self, name: str, call: bytes) -> Any:
        options = self._ray.remote(RayJob).options(
            name=name,
            namespace=_NAMESPACE,
            lifetime="detached",
            get_if_exists=True,
            max_concurrency=2,
            max_restarts=-1,
            max_task_retries=-1,
            num_cpus=1,
        )
        return options.remote(call)

    def _kill(self, name: str) -> None:
        try:
            actor = self._ray.get_actor(name, namespace=_NAMESPACE)
        except ValueError:  # there is no such actor
            return
        self._ray.kill(actor)


class RayJob:
    """The actor, in a process of the cluster."""

    def __init__(self, call: bytes) -> None:
        self._born = uuid.uuid4().hex
        self._said: list[bytes] = []
        self._end: bytes | None = None
        self._news = threading.Condition()
        threading.Thread(target=self._work, args=(call,), daemon=True).start()

    def said(self, born: str, after: int) -> tuple[str, list[bytes], bytes | None]:
        """Returns the messages after the first `after`, and the end if there is one; waits for either. A caller that
        last asked another process of this actor gets all messages."""
        first = after if born == self._born else 0
        with self._news:
            self._news.wait_for(lambda: self._end is not None or len(self._said) > first, _LONG_POLL)
            return self._born, self._said[first:], self._end

    def _work(self, call: bytes) -> None:
        end = values.plain(perform(read_call(call), self._say))
        with self._news:
            self._end = end
            self._news.notify_all()

    def _say(self, said: Said) -> None:
        with self._news:
            self._said.append(values.plain(said))
            self._news.notify_all()
