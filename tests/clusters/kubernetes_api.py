"""A small API server that speaks Kubernetes' protocol for Jobs and their pods, and runs pods as processes.

It knows what the executor uses: create, get and delete Jobs; list and watch pods; follow a pod's log; a bearer token;
TLS. As a Job's controller does, it makes another pod when one fails, up to the Job's `backoffLimit`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route


@dataclass(eq=False)
class Pod:
    name: str
    job: str
    number: int
    process: asyncio.subprocess.Process
    phase: str = "Running"
    lines: list[bytes] = field(default_factory=list[bytes])

    def shown(self) -> dict[str, Any]:
        labels = {"job-name": self.job, "batch.kubernetes.io/job-name": self.job}
        created = f"2026-01-01T00:00:{self.number:02}Z"
        metadata = {"name": self.name, "labels": labels, "creationTimestamp": created}
        return {"metadata": metadata, "status": {"phase": self.phase}}


@dataclass(eq=False)
class Job:
    body: dict[str, Any]
    failed: bool = False

    def shown(self) -> dict[str, Any]:
        conditions = [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}] if self.failed else []
        return {**self.body, "status": {"conditions": conditions}}


class KubernetesApi:
    def __init__(self, token: str) -> None:
        self.token = token
        self.jobs: dict[str, Job] = {}
        self.pods: dict[str, Pod] = {}
        self.created = 0
        self._version = 0
        self._change = asyncio.Condition()
        self._running: set[asyncio.Task[None]] = set()
        jobs, pods = "/apis/batch/v1/namespaces/steps/jobs", "/api/v1/namespaces/steps/pods"
        self.app = Starlette(
            routes=[
                Route(jobs, self._create, methods=["POST"]),
                Route(jobs + "/{name}", self._get, methods=["GET"]),
                Route(jobs + "/{name}", self._delete, methods=["DELETE"]),
                Route(pods, self._list, methods=["GET"]),
                Route(pods + "/{name}/log", self._log, methods=["GET"]),
            ]
        )

    async def close(self) -> None:
        for name in list(self.jobs):
            self._remove(name)
        await asyncio.gather(*self._running)

    # -- the controller ------------------------------------------------------------------------------------------

    async def _run(self, name: str, job: Job) -> None:
        """Pod after pod, until one succeeds or the limit is reached."""
        spec = job.body["spec"]
        for number in range(spec["backoffLimit"] + 1):
            pod = await self._start(name, job, number)
            assert pod.process.stdout is not None
            async for line in pod.process.stdout:
                pod.lines.append(line)
                await self._changed()
            code = await pod.process.wait()
            pod.phase = "Succeeded" if code == 0 else "Failed"
            await self._changed()
            if code == 0 or self.jobs.get(name) is not job:
                return
        job.failed = True
        await self._changed()

    async def _start(self, name: str, job: Job, number: int) -> Pod:
        [container] = job.body["spec"]["template"]["spec"]["containers"]
        told = {each["name"]: each["value"] for each in container["env"]}
        root = str(Path(__file__).parents[2])
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *container["command"][1:],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": root, **told},
            stdout=asyncio.subprocess.PIPE,
            limit=64 * 1024 * 1024,
        )
        pod = self.pods[f"{name}-{number}"] = Pod(f"{name}-{number}", name, number, process)
        await self._changed()
        return pod

    def _remove(self, name: str) -> None:
        del self.jobs[name]
        for pod in [each for each in self.pods.values() if each.job == name]:
            if pod.process.returncode is None:
                pod.process.kill()
            del self.pods[pod.name]

    async def _changed(self) -> None:
        async with self._change:
            self._version += 1
            self._change.notify_all()

    # -- the API -------------------------------------------------------------------------------------------------

    def _refused(self, request: Request) -> Response | None:
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return JSONResponse({"kind": "Status", "code": 401, "message": "Unauthorized"}, 401)
        return None

    async def _create(self, request: Request) -> Response:
        if (refused := self._refused(request)) is not None:
            return refused
        body = await request.json()
        name = body["metadata"]["name"]
        if name in self.jobs:
            return JSONResponse({"kind": "Status", "code": 409, "reason": "AlreadyExists"}, 409)
        self.created += 1
        job = self.jobs[name] = Job(body)
        task = asyncio.ensure_future(self._run(name, job))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return JSONResponse(job.shown(), 201)

    async def _get(self, request: Request) -> Response:
        job = self.jobs.get(request.path_params["name"])
        return JSONResponse({"code": 404}, 404) if job is None else JSONResponse(job.shown())

    async def _delete(self, request: Request) -> Response:
        name = request.path_params["name"]
        if (refused := self._refused(request)) is not None:
            return refused
        if name not in self.jobs:
            return JSONResponse({"code": 404}, 404)
        self._remove(name)
        await self._changed()
        return JSONResponse({"kind": "Status", "status": "Success"})

    async def _list(self, request: Request) -> Response:
        job = request.query_params["labelSelector"].removeprefix("job-name=")
        if request.query_params.get("watch") == "true":
            return StreamingResponse(self._events(job, int(request.query_params["resourceVersion"])))
        items = [pod.shown() for pod in self.pods.values() if pod.job == job]
        return JSONResponse({"metadata": {"resourceVersion": str(self._version)}, "items": items})

    async def _events(self, job: str, since: int) -> AsyncIterator[bytes]:
        while True:
            async with self._change:
                while self._version <= since:
                    await self._change.wait()
                since = self._version
            for pod in [each for each in self.pods.values() if each.job == job]:
                yield json.dumps({"type": "MODIFIED", "object": pod.shown()}).encode() + b"\n"

    async def _log(self, request: Request) -> Response:
        pod = self.pods.get(request.path_params["name"])
        return PlainTextResponse("not found", 404) if pod is None else StreamingResponse(self._lines(pod))

    async def _lines(self, pod: Pod) -> AsyncIterator[bytes]:
        sent = 0
        while True:
            async with self._change:
                while len(pod.lines) == sent and pod.phase == "Running":
                    await self._change.wait()
            for line in pod.lines[sent:]:
                yield line
                sent += 1
            if pod.phase != "Running" and sent == len(pod.lines):
                return
