"""`Clusters`: the clusters that this process may use, and one call on one of them.

    attempt ──> Clusters.call ──> Job ──> DaskCluster | RayCluster | KubernetesCluster
                    ▲                                   │
                    └── beats, lines ◄── heard() ◄── the job's messages

A job has the name of its attempt, so that a second request finds the same job. When an attempt is cancelled, its job is
stopped; when this process ends, jobs continue, because other engines may take over its runs.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping
from functools import partial
from typing import Final, assert_never

from msgspec import Raw

from plait.kernel import values
from plait.kernel.errors import InvalidInput
from plait.kernel.task import Attempt, TaskError

from .call import End, call_of, heard, output_of, read_said
from .cluster import Cluster, Lost
from .names import ClusterName, is_cluster
from .settings import ClusterSettings

log = logging.getLogger("plait.clusters")

_LOSSES: Final = 3
"""Workers that one job may lose; after that, the job is assumed to kill them."""
_CLOSING: Final = 5.0
"""Seconds to wait for jobs that are being stopped when this process ends."""


class Clusters:
    """The clusters of this process, opened when the first step needs them."""

    def __init__(self, settings: ClusterSettings, opened: Mapping[ClusterName, Cluster] | None = None) -> None:
        self._settings = settings
        self._open: dict[ClusterName, Cluster] = dict(opened or {})
        self._leaving = False
        self._forgetting: set[asyncio.Task[None]] = set()

    async def call(self, attempt: Attempt, on: str, ref: str, arguments: Raw) -> Raw:
        """Calls the function `module:name` on a cluster; raises what it raises."""
        if ref.startswith("__main__:"):
            what = f"`{ref.rpartition(':')[2]}` is in the program itself, where no cluster could find it"
            raise TaskError(f"{what}: move it to a module", retryable=False, code="clusters.not_importable")
        cluster = self._cluster(on)
        name = job_name(attempt)
        call = values.plain(call_of(attempt, ref, arguments, values.MAX_BYTES))
        try:
            return output_of(await self._insist(cluster, name, call, attempt))
        finally:
            if not self._leaving:
                self._forget(cluster, name)

    async def _insist(self, cluster: Cluster, name: str, call: bytes, attempt: Attempt) -> End:
        for left in range(_LOSSES, -1, -1):
            try:
                return _end(await cluster.run(name, call, partial(_hear, attempt)), attempt)
            except Lost as lost:
                if not left:
                    text = f"{attempt.task.label} was lost by {_LOSSES + 1} workers of its cluster: {lost}"
                    raise TaskError(text, retryable=True, code="clusters.lost") from None
                log.warning("%s was lost by its cluster, and starts again: %s", attempt.task.label, lost)
        raise AssertionError("unreachable")

    def _forget(self, cluster: Cluster, name: str) -> None:
        """Stops a job in the background: neither a result nor a cancellation waits for it."""
        task = asyncio.get_running_loop().create_task(_forgotten(cluster, name))
        self._forgetting.add(task)
        task.add_done_callback(self._forgetting.discard)

    def leave(self) -> None:
        """Leaves jobs running from now on: the engines that take over their runs request them again."""
        self._leaving = True

    async def close(self) -> None:
        self.leave()
        if self._forgetting:
            await asyncio.wait(self._forgetting, timeout=_CLOSING)
        for cluster in self._open.values():
            await cluster.close()
        self._open.clear()

    def _cluster(self, on: str) -> Cluster:
        if not is_cluster(on):
            raise InvalidInput("clusters.unknown", f"there is no cluster of the kind {on!r}")
        if on not in self._open:
            self._open[on] = self._opened(on)
        return self._open[on]

    def _opened(self, on: ClusterName) -> Cluster:
        address = self._settings.address(on)
        match on:
            case "dask":
                from .dask import DaskCluster

                return DaskCluster(address)
            case "ray":
                from .ray import RayCluster

                return RayCluster(address)
            case "kubernetes":
                from .kubernetes import KubernetesCluster

                return KubernetesCluster(address, self._settings)
            case _:
                assert_never(on)


def job_name(attempt: Attempt) -> str:
    """Returns the job's name, different for each attempt and valid in every cluster."""
    parts = attempt.run_id, attempt.task.token, attempt.task.key, str(attempt.number)
    return f"plait-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:40]}"


def _hear(attempt: Attempt, said: bytes) -> None:
    if not attempt.over:
        heard(read_said(said), attempt)


def _end(said: bytes, attempt: Attempt) -> End:
    end = heard(read_said(said), attempt)
    if end is None:
        raise Lost("it ended without a result")
    return end


async def _forgotten(cluster: Cluster, name: str) -> None:
    try:
        await cluster.forget(name)
    except Exception as error:  # from any cluster; a job that keeps running is only a waste
        log.warning("the job %s may go on: %s", name, error)
