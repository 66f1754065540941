"""Tasks of the kind `http`: one request per attempt, through the guarded client, and the meaning of its response: a
result, a permanent failure, or a temporary one.

A request may ask for its result to come later: it then carries a callback address in a header or a field of its body,
and the executor returns `LATER` as soon as the other side has accepted the work. Or the other side decides: 202 means
that the result comes later, to the address for the result of this attempt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn, cast
from urllib.parse import urlencode

from msgspec import Raw

from plait.egress import Request, Response
from plait.egress.errors import EgressError
from plait.kernel import json_text, values
from plait.kernel.errors import PlaitError, TooLarge
from plait.kernel.task import LATER, Attempt, Later, Task, TaskError
from plait.kernel.task_inputs import HTTP, HttpInput

from .callbacks import CallbackUrls, ResultUrls, filled, local_url, no_server, put, url_of
from .http_address import address_of

Send = Callable[[Request], Awaitable[Response]]
"""The guarded client; tests may replace it."""

_PROBE_TIMEOUT = 3.0
_SHOWN = 300
"""Characters of a response's body shown in an error."""


class HttpExecutor:
    kinds = (HTTP,)

    def __init__(self, send: Send, callbacks: CallbackUrls = local_url, result_urls: ResultUrls = no_server) -> None:
        self._send = send
        self._callbacks = callbacks
        self._result_urls = result_urls

    async def execute(self, task: Task, attempt: Attempt) -> Any | Later:
        wanted: HttpInput = task.input
        result_url = self._result_url(wanted, attempt)
        try:
            response = await self._send(self._request(wanted, attempt, result_url))
        except EgressError as error:
            _fail(error)
        if response.status == 202 and wanted.result_url_field and result_url is None:
            what = "step returned 202, but no server of this engine could take its result later"
            raise TaskError(f"{what}; start it with `plait serve`, or answer 200", retryable=False)
        if len(response.body) > json_text.LONG:
            return await asyncio.to_thread(result_of, response, wanted)
        return result_of(response, wanted)

    def _result_url(self, wanted: HttpInput, attempt: Attempt) -> str | None:
        if not wanted.result_url_field:
            return None
        task = attempt.task
        return self._result_urls(attempt.run_id, task.token, attempt.number, task.policy.timeout)

    def _request(self, wanted: HttpInput, attempt: Attempt, result_url: str | None) -> Request:
        headers, body = wanted.headers, wanted.body
        if (callback := wanted.callback) is not None:
            if callback.headers:
                headers = headers | dict.fromkeys(callback.headers, url_of(callback, attempt, self._callbacks))
            body = filled(body, callback, attempt, self._callbacks) if body else body
        if wanted.attempt_field or wanted.result_url_field:
            body = _numbered(body, wanted, attempt.number, result_url)
        return Request(
            method=wanted.method,
            url=_url(wanted),
            headers=headers,
            body=bytes(body),
            timeout=wanted.timeout,
            idempotency_key=attempt.task.key,
            max_bytes=wanted.max_bytes,
        )


def _numbered(body: Raw, wanted: HttpInput, number: int, result_url: str | None) -> Raw:
    """The body with the fields that differ between attempts."""
    found = values.decode(body)
    if wanted.attempt_field:
        put(found, wanted.attempt_field, number)
    if wanted.result_url_field:
        put(found, wanted.result_url_field, result_url)
    return Raw(values.plain(found))


def _url(wanted: HttpInput) -> str:
    if not wanted.query:
        return address_of(wanted.url, wanted.params) if "{" in wanted.url else wanted.url
    return f"{wanted.url}{'&' if '?' in wanted.url else '?'}{urlencode(wanted.query)}"


class HttpProbe:
    """Reports what is wrong at an address: a status from 400 on, or no answer; empty if nothing."""

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


# -- the response ------------------------------------------------------------------------------------------------------


def result_of(response: Response, wanted: HttpInput) -> Any | Later:
    """The result in a response, None if it is empty. Raises for all but 2xx, and for statuses to retry."""
    status = response.status
    if wanted.expects == "any_response":
        return _whole(response)
    if not 200 <= status < 300 or status in wanted.retry_statuses:
        raise _failure(response, wanted)
    if wanted.expects == "response":
        return _whole(response)
    if wanted.expects == "json_or_later" and status == 202:
        return LATER
    if wanted.expects in ("callback", "nothing"):
        return LATER if wanted.expects == "callback" else None
    try:
        found = values.parse(response.body) if response.body.strip() else None
    except TooLarge as error:
        raise TaskError(f"step returned too much: {error.what}", retryable=False) from None
    except PlaitError as error:  # what is not JSON fails on every attempt
        reason = error.why or error.what
        raise TaskError(f"step returned what is not JSON: {reason}", retryable=False) from None
    if wanted.expects == "object" and not isinstance(found, dict):
        if found is None:
            return {}
        kind = "a list" if isinstance(found, list) else "a plain value"
        raise TaskError(f"step returned {kind}, not an object of outputs", retryable=False)
    return cast("Any", found)


def _whole(response: Response) -> dict[str, Any]:
    """A response with its body; a body that is not JSON is text."""
    try:
        body = values.parse(response.body) if response.body.strip() else None
    except PlaitError:
        body = response.body.decode(errors="replace").replace("\0", "")
    return {"status": response.status, "headers": dict(response.headers), "body": body}


def _failure(response: Response, wanted: HttpInput) -> TaskError:
    status, detail = response.status, _detail(response)
    text = f"step returned HTTP error: status {status}{': ' if detail else ''}{detail}"
    return TaskError(text, retryable=status >= 500 or status in wanted.retry_statuses)


def _detail(response: Response) -> str:
    """The `detail` or `title` of a problem document, otherwise the beginning of a text."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if "json" in kind:
        told = _told(response.body)
        if told:
            return _line(told)
    elif kind and not kind.startswith("text/"):
        return ""
    return _line(response.body[: 4 * _SHOWN].decode(errors="replace"))


def _told(body: bytes) -> str:
    try:
        found = values.parse(body)
    except PlaitError:
        return ""
    if not isinstance(found, dict):
        return ""
    problem = cast("dict[str, Any]", found)
    texts = (problem.get(name) for name in ("detail", "title"))
    return next((each for each in texts if isinstance(each, str) and each), "")


def _line(text: str) -> str:
    """The text on one line, without characters that a terminal or a store rejects."""
    plain = " ".join("".join(char if char.isprintable() else " " for char in text[: 4 * _SHOWN]).split())
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}…"
