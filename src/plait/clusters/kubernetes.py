"""Runs steps on Kubernetes: one Job each, whose pod runs `python -m plait.clusters.pod` in the configured image.

The Job's controller creates another pod when one is lost. A step's messages, and its end, are lines of the pod's log,
which can be read from its first line: so an engine that takes over a run finds the Job by its name and reads its log.
Deleting the Job stops the pod.
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

from plait.extras import extra
from plait.kernel import values
from plait.kernel.errors import InvalidInput, Unavailable
from plait.kernel.task import TaskError

from .call import Done, Failed, read_said
from .cluster import Lost
from .pod import MARK, environment_of
from .settings import ClusterSettings

log = logging.getLogger("plait.clusters")

_MOST_BYTES: Final = 1_000_000
"""Maximum bytes of a call: the API server accepts objects of 1.5 MiB."""
_LOST_PODS: Final = 3
_KEPT: Final = 86_400
"""Seconds for which the cluster keeps an ended Job that was not deleted."""
_WATCH: Final = 60
_TIMEOUT: Final = 30.0
_PAUSE: Final = 0.5
_BEGUN: Final = ("Running", "Succeeded", "Failed")


class KubernetesCluster:
    def __init__(self, address: str, settings: ClusterSettings) -> None:
        with extra("kubernetes", "a step on Kubernetes"):
            import httpx
        self._httpx: Any = httpx
        if not settings.image:
            raise InvalidInput(
                "clusters.no_image",
                "a step runs on Kubernetes, and there is no image for its pod",
                fix="set PLAIT_KUBERNETES_IMAGE to one that has Plait and the step's module",
            )
        self._settings = settings
        self._jobs = f"/apis/batch/v1/namespaces/{settings.namespace}/jobs"
        self._pods = f"/api/v1/namespaces/{settings.namespace}/pods"
        self._client: Any = httpx.AsyncClient(base_url=address, verify=_trust(settings.ca_file), timeout=_TIMEOUT)

    async def run(self, name: str, call: bytes, hear: Callable[[bytes], None]) -> bytes:
        await self._create(name, call)
        heard: dict[str, int] = {}
        while True:
            for pod, phase in await self._begun(name):
                end = await self._follow(pod, heard, hear)
                if end is not None:
                    return end
                if phase == "Succeeded":
                    await self.forget(name)
                    raise Lost("its pod ended without a result")
            await asyncio.sleep(_PAUSE)  # the log was cut off, or the pod was just lost

    async def forget(self, name: str) -> None:
        await self._ask("DELETE", f"{self._jobs}/{name}", params={"propagationPolicy": "Background"}, fine=(404,))

    async def close(self) -> None:
        await self._client.aclose()

    # -- jobs and pods -------------------------------------------------------------------------------------------

    async def _create(self, name: str, call: bytes) -> None:
        """Creates the Job; an existing one with this name is the same."""
        if len(call) > _MOST_BYTES:
            text = f"the arguments have {len(call):,} bytes, and a Kubernetes Job takes {_MOST_BYTES:,}"
            raise TaskError(f"{text}: store them elsewhere and pass a reference", retryable=False)
        await self._ask("POST", self._jobs, json=self._job(name, call), fine=(409,))

    def _job(self, name: str, call: bytes) -> dict[str, Any]:
        labels = {"app.kubernetes.io/managed-by": "plait"}
        container = {
            "name": "step",
            "image": self._settings.image,
            "command": ["python", "-m", "plait.clusters.pod"],
            "env": [{"name": each, "value": value} for each, value in environment_of(call).items()],
        }
        pod = {"restartPolicy": "Never", "containers": [container]}
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "labels": labels},
            "spec": {
                "backoffLimit": _LOST_PODS,
                "ttlSecondsAfterFinished": _KEPT,
                "template": {"metadata": {"labels": labels}, "spec": pod},
            },
        }

    async def _begun(self, name: str) -> list[tuple[str, str]]:
        """Returns the started pods of a Job and their phases, oldest first; waits if all were lost."""
        selector = {"labelSelector": f"job-name={name}"}
        found = await self._ask("GET", self._pods, params=selector)
        pods = sorted(found["items"], key=lambda pod: pod["metadata"].get("creationTimestamp", ""))
        phases = [(pod["metadata"]["name"], pod["status"].get("phase", "")) for pod in pods]
        if any(phase in ("Running", "Succeeded") for _, phase in phases):
            return [(pod, phase) for pod, phase in phases if phase in _BEGUN]
        job = await self._ask("GET", f"{self._jobs}/{name}", fine=(404,))
        if job is None or any(each["type"] == "Failed" for each in job.get("status", {}).get("conditions", ())):
            await self.forget(name)
            raise Lost("its pods ended without a result" if job is not None else "somebody deleted its Job")
        await self._changed({**selector, "resourceVersion": found["metadata"]["resourceVersion"]})
        return []

    async def _changed(self, selector: dict[str, str]) -> None:
        """Waits until a pod changes, at most for a while."""
        watch = {**selector, "watch": "true", "timeoutSeconds": str(_WATCH)}
        async with self._stream(self._pods, watch, _WATCH + _TIMEOUT) as lines:
            async for _ in lines:
                return

    async def _follow(self, pod: str, heard: dict[str, int], hear: Callable[[bytes], None]) -> bytes | None:
        """Reads a pod's messages until it stops; returns its end, if it logged one."""
        number = 0
        async with self._stream(f"{self._pods}/{pod}/log", {"follow": "true"}, None) as lines:
            async for line in lines:
                number += 1
                if not line.startswith(MARK) or number <= heard.get(pod, 0):  # already seen in an earlier read
                    continue
                heard[pod] = number
                said = line.removeprefix(MARK).encode()
                if isinstance(read_said(said), Done | Failed):
                    return said
                hear(said)
        return None

    # -- HTTP ----------------------------------------------------------------------------------------------------

    async def _ask(self, method: str, path: str, *, fine: tuple[int, ...] = (), **more: Any) -> Any:
        """Sends a request and returns the object in the answer; None for a status in `fine`."""
        try:
            response = await self._client.request(method, path, headers=self._headers(), **more)
        except self._httpx.HTTPError as error:
            raise self._unreachable(error) from None
        if response.status_code in fine:
            return None
        if response.is_error:
            raise Unavailable(
                "clusters.refused",
                f"Kubernetes refused {method} {path}",
                why=f"it answered {response.status_code}: {response.text[:300]}",
                fix="give the service account create, get, delete on jobs and get, list, watch on pods and pods/log",
            )
        return values.decode(values.Raw(response.content))

    @asynccontextmanager
    async def _stream(
        self, path: str, params: dict[str, str], timeout: float | None
    ) -> AsyncGenerator[AsyncIterator[str]]:
        """Yields lines. Also ends when the connection breaks; the next request then raises the reason."""
        try:
            limits = self._httpx.Timeout(_TIMEOUT, read=timeout)
            async with self._client.stream(
                "GET", path, params=params, headers=self._headers(), timeout=limits
            ) as response:
                yield _none() if response.is_error else response.aiter_lines()  # the pod may be gone
        except self._httpx.HTTPError as error:
            log.debug("%s was cut off: %s", path, error)

    def _headers(self) -> dict[str, str]:
        """Returns the headers. The token is read each time, because the kubelet renews it."""
        file = self._settings.token_file
        if not os.path.exists(file):
            return {}
        with open(file) as opened:
            return {"Authorization": f"Bearer {opened.read().strip()}"}

    def _unreachable(self, error: Exception) -> Unavailable:
        return Unavailable(
            "clusters.unreachable",
            f"the API server of Kubernetes at {self._client.base_url} does not answer",
            why=str(error) or type(error).__name__,
            fix="check PLAIT_KUBERNETES, and PLAIT_KUBERNETES_CA_FILE",
        )


async def _none() -> AsyncIterator[str]:
    for line in ():
        yield line


def _trust(ca_file: str) -> Any:
    if not os.path.exists(ca_file):
        return True
    return ssl.create_default_context(cafile=ca_file)
