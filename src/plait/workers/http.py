"""Tasks of the kind `http`: one request for each attempt, through the guarded client.

A request may ask for its result to come later: it then carries a callback address in a header or a field of its
body, and the executor answers `LATER` as soon as the other side has accepted the work.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

from plait.egress import Request, Response
from plait.egress.errors import EgressError
from plait.kernel.task import LATER, Attempt, Later, Task, TaskError
from plait.kernel.task_inputs import HTTP, HttpInput

from .callbacks import CallbackUrls, filled, local_url, url_of
from .http_address import address_of
from .http_answer import check_status, json_of, object_of

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
        check_status(response, wanted.retry_statuses)
        match wanted.expects:
            case "callback":
                return LATER
            case "nothing":
                return None
            case "object":
                return object_of(response)
            case "json":
                return json_of(response)

    def _request(self, wanted: HttpInput, attempt: Attempt) -> Request:
        return Request(
            method=wanted.method,
            url=address_of(wanted.url, wanted.params),
            headers=self._headers(wanted, attempt),
            body=bytes(filled(wanted.body, wanted.callback, attempt, self._callbacks)) if wanted.body else b"",
            timeout=wanted.timeout,
            idempotency_key=attempt.task.key,
            max_bytes=wanted.max_bytes,
        )

    def _headers(self, wanted: HttpInput, attempt: Attempt) -> dict[str, str]:
        if wanted.callback is None or not wanted.callback.headers:
            return wanted.headers
        return wanted.headers | dict.fromkeys(
            wanted.callback.headers, url_of(wanted.callback, attempt, self._callbacks)
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
