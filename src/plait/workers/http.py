"""Tasks of the kind `http`: one request for each attempt, through the guarded client.

A request may ask for its result to come later: it then carries a callback address in a header or a field of its
body, and the executor answers `LATER` as soon as the other side has accepted the work.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

from plait.egress import Request, Response
from plait.egress.errors import EgressError
from plait.kernel.task import Attempt, Later, Task, TaskError
from plait.kernel.task_inputs import HTTP, HttpInput

from .callbacks import CallbackUrls, filled, local_url, url_of
from .http_address import address_of
from .http_answer import result_of

Send = Callable[[Request], Awaitable[Response]]
"""The guarded client; a test may put services of its own there."""

_PROBE_TIMEOUT = 3.0


class HttpExecutor:
    kinds = (HTTP,)

    def __init__(self, send: Send, callbacks: CallbackUrls = local_url) -> None:
        self._send = send
        self._callbacks = callbacks

    async def execute(self, task: Task, attempt: Attempt) -> Any | Later:
        wanted: HttpInput = task.input
        try:
            response = await self._send(self._request(wanted, attempt))
        except EgressError as error:
            _fail(error)
        return result_of(response, wanted)

    def _request(self, wanted: HttpInput, attempt: Attempt) -> Request:
        headers, body = wanted.headers, wanted.body
        if (callback := wanted.callback) is not None:
            if callback.headers:
                headers = headers | dict.fromkeys(callback.headers, url_of(callback, attempt, self._callbacks))
            body = filled(body, callback, attempt, self._callbacks) if body else body
        return Request(
            method=wanted.method,
            url=address_of(wanted.url, wanted.params) if "{" in wanted.url else wanted.url,
            headers=headers,
            body=bytes(body),
            timeout=wanted.timeout,
            idempotency_key=attempt.task.key,
            max_bytes=wanted.max_bytes,
        )


class HttpProbe:
    """What is wrong at an address, or nothing: a status from 400 on, or no answer at all."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def __call__(self, url: str) -> str:
        try:
            response = await self._send(Request(url=url, timeout=_PROBE_TIMEOUT))
        except EgressError as error:
            return f"{error.what}: {error.why}" if error.why else error.what
        return f"health check returned status {response.status}" if response.status >= 400 else ""


def _fail(error: EgressError) -> NoReturn:
    why = f": {error.why}" if error.why else ""
    raise TaskError(f"step call failed: {error.what}{why}", retryable=error.retryable) from error
