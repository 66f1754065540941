"""Callback addresses, at which the result of a task can be reported later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from msgspec import Raw

from plait.kernel import values
from plait.kernel.ids import RunId, TaskToken, caller_id
from plait.kernel.task import Attempt
from plait.kernel.task_inputs import Callback

CallbackUrls = Callable[[RunId, str, str], str]
"""The address for a run, a node and a token. A server's addresses are signed."""
ResultUrls = Callable[[RunId, TaskToken, int, float | None], str | None]
"""The one-time address for the result of one attempt of a task that may take so many seconds. None: no server runs."""


def no_server(run_id: RunId, token: TaskToken, attempt: int, seconds: float | None) -> str | None:
    return None


def local_url(run_id: RunId, node: str, token: str) -> str:
    """The address of a server on this machine with default settings."""
    parts = (quote(part, safe="") for part in (caller_id(run_id), node, token))
    return f"http://127.0.0.1:8080/webhook/{'/'.join(parts)}"


def url_of(callback: Callback, attempt: Attempt, urls: CallbackUrls) -> str:
    return urls(attempt.run_id, attempt.task.node, callback.token)


def filled(document: Raw, callback: Callback | None, attempt: Attempt, urls: CallbackUrls) -> Raw:
    """The document with the address in the callback's fields."""
    if callback is None or not callback.fields:
        return document
    url, found = url_of(callback, attempt, urls), values.decode(document)
    for pointer in callback.fields:
        put(found, pointer, url)
    return Raw(values.plain(found))


def fill_in(input: dict[str, Any], run_id: RunId, node: str, urls: CallbackUrls) -> dict[str, Any]:
    """The input of a `python` task, as plain data, with the address in the callback's arguments."""
    callback: dict[str, Any] = input.pop("callback", None) or {}
    for pointer in callback.get("fields", ()):
        put(input["arguments"], pointer, urls(run_id, node, callback["token"]))
    return input


def put(document: Any, pointer: str, value: Any) -> None:
    """Sets the value at the place of a JSON pointer."""
    *way, last = (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
    for part in way:
        document = document[part]
    document[last] = value
