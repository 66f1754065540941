"""The one step that reaches outside: a request through the guarded client. Incoming data is ignored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, cast
from urllib.parse import urlencode

from msgspec import UNSET

from plait.egress import Request, Response
from plait.egress.errors import EgressError
from plait.kernel import values
from plait.kernel.errors import PlaitError

from .errors import StepError
from .steps import HttpRequest

Send = Callable[[Request], Awaitable[Response]]

_SECONDS: Final = 30.0
_RETRYABLE: Final = frozenset({408, 425, 429})


async def fetch(step: HttpRequest, send: Send, profiles: Mapping[str, Mapping[str, str]], most_bytes: int) -> Any:
    """What the other side returned as JSON; nothing is null."""
    try:
        response = await send(_request(step, profiles, most_bytes))
    except EgressError as error:
        why = f": {error.why}" if error.why else ""
        raise StepError(f"{error.what}{why}", retryable=error.retryable) from error
    status = response.status
    if not 200 <= status < 300:
        raise StepError(f"{_host(step)} answered {status}", retryable=status >= 500 or status in _RETRYABLE)
    if not response.body.strip():
        return None
    try:
        return values.parse(response.body)
    except PlaitError as error:
        raise StepError(f"{_host(step)} answered what is not JSON: {error.why or error.what}") from None


def _request(step: HttpRequest, profiles: Mapping[str, Mapping[str, str]], most_bytes: int) -> Request:
    get = step.method == "GET"
    return Request(
        method=step.method,
        url=_url(step, query=step.params if get else {}),
        headers=_headers(step, profiles),
        json=UNSET if get else step.params,
        timeout=_SECONDS,
        max_bytes=most_bytes,
    )


def _url(step: HttpRequest, query: Mapping[str, Any]) -> str:
    url = step.url if "://" in step.url else f"https://{step.url}"
    if not query:
        return url
    pairs = {name: _texts(value) for name, value in query.items()}
    return f"{url}{'&' if '?' in url else '?'}{urlencode(pairs, doseq=True)}"


def _texts(value: Any) -> str | list[str]:
    """A list repeats the name."""
    return [_text(each) for each in cast("list[Any]", value)] if isinstance(value, list) else _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else values.plain(value).decode()


def _headers(step: HttpRequest, profiles: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    headers = {"Accept": "application/json"} | {name: _text(value) for name, value in step.headers.items()}
    if step.auth_profile is None:
        return headers
    if step.auth_profile not in profiles:
        raise StepError(f"there is no auth profile `{step.auth_profile}`")
    return headers | dict(profiles[step.auth_profile])


def _host(step: HttpRequest) -> str:
    """Without the path and the query, which may hold secrets."""
    return step.url.partition("://")[2].partition("/")[0].partition("?")[0] or step.url.partition("/")[0]
