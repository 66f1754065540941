"""Runs steps on Dask: one task of the scheduler per job.

The scheduler reruns a task when it loses its worker. It keeps a task by name until it is forgotten, also while no
client is connected, so an engine that takes over a run finds it. A job's messages go through the scheduler's event
log. A thread of a Dask worker can't be stopped: a cancelled step ends at its next heartbeat, or runs to its end and its
result is ignored.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

from plait.extras import extra
from plait.kernel import values
from plait.kernel.errors import Unavailable
from plait.kernel.task import TaskError

from .call import Said, read_call
from .cluster import Lost
from .remote import perform

log = logging.getLogger("plait.clusters")

_TOPIC: Final = "plait"
_CONNECT: Final = 10.0
_RUNNING: Final = ("executing", "long-running")


class DaskCluster:
    def __init__(self, address: str) -> None:
        with extra("dask", "a step on Dask"):
            import distributed
        self._distributed: Any = distributed
        self._address = address
        self._client: Any = None
        self._connection: Any = None
        """The first connection of the client. Once it is lost, results and messages of its jobs no longer arrive, even
        if the client reconnects, which it tries only for a few seconds."""
        self._connecting = asyncio.Lock()
        self._listeners: dict[str, Callable[[bytes], None]] = {}

    async def run(self, name: str, call: bytes, hear: Callable[[bytes], None]) -> bytes:
        client = await self._connected()
        self._listeners[name] = hear
        try:
            return await self._result(client, name, call)
        except self._distributed.client.FutureCancelledError as error:
            if not self._is_connected(client):  # the scheduler may still have the task
                raise Lost(str(error)) from None
            await self.forget(name)
            raise Lost(str(error)) from None
        except self._distributed.KilledWorker as error:
            await self.forget(name)
            raise Lost(str(error)) from None
        except (OSError, TimeoutError, self._distributed.client.ClosedClientError) as error:
            raise self._unreachable(error) from None
        finally:
            self._listeners.pop(name, None)

    async def _result(self, client: Any, name: str, call: bytes) -> bytes:
        future = client.submit(work, name, call, key=name)  # joins an existing task with this key
        try:
            await client.publish_dataset(future, name=name, override=True)
            return await future
        finally:
            future.release()

    async def forget(self, name: str) -> None:
        client = self._client
        if client is None:
            return
        future = self._distributed.Future(name, client=client)
        await client.cancel([future], force=True)
        await client.unpublish_dataset(name)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is None:
            return
        try:
            await client.close()
        except Exception as error:  # from its reconnecting task, where Dask may raise anything
            log.debug("a client of Dask failed to close: %r", error)

    async def _connected(self) -> Any:
        """Returns the shared client, a new one if the connection was lost."""
        async with self._connecting:
            if self._client is not None and not self._is_connected(self._client):
                await self.close()
            if self._client is None:
                try:
                    client = await self._distributed.Client(self._address, asynchronous=True, timeout=_CONNECT)
                except (OSError, TimeoutError) as error:
                    raise self._unreachable(error) from None
                client.subscribe_topic(_TOPIC, self._heard)
                self._client, self._connection = client, client.scheduler_comm
            return self._client

    def _is_connected(self, client: Any) -> bool:
        return client.status == "running" and client.scheduler_comm is self._connection

    def _unreachable(self, error: Exception) -> Unavailable:
        return Unavailable(
            "clusters.unreachable",
            f"Dask's scheduler at {self._address} does not answer",
            why=str(error),
            fix="start it, or set PLAIT_DASK to where it is",
        )

    def _heard(self, event: tuple[Any, Any]) -> None:
        """Handles a message, which may be of any engine's job."""
        _, said = event
        hear = self._listeners.get(said["job"])
        if hear is not None:
            hear(said["said"].encode())


def work(name: str, call: bytes) -> bytes:
    """Runs the call; executed in a worker of the cluster."""
    import distributed

    worker: Any = distributed.get_worker()

    def say(said: Said) -> None:
        task = worker.state.tasks.get(name)
        if task is None or task.state not in _RUNNING:
            raise TaskError("nobody wants the result any more", retryable=False, code="task.cancelled")
        worker.log_event(_TOPIC, {"job": name, "said": values.plain(said).decode()})

    return values.plain(perform(read_call(call), say))
