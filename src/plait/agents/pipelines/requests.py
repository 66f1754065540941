"""The only step that reaches outside: a request through the guarded client. Incoming data is ignored."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, cast
from urllib.parse import urlencode

from msgspec import UNSET

from plait.agents.auth_profiles import AuthProfile
from plait.egress import Request, Response
from plait.egress.errors import EgressError
from plait.egress.url import parse_url
from plait.kernel import values
from plait.kernel.errors import PlaitError
from plait.kernel.json_text import LONG

from .errors import StepError
from .limits import MOST_BYTES, MOST_VALUES
from .steps import HttpRequest

Send = Callable[[Request], Awaitable[Response]]
Profiles = Mapping[str, AuthProfile | Mapping[str, str]]
"""Plain headers are for steps that people wrote; a profile goes to its hosts only."""

_SECONDS: Final = 30.0
_RETRYABLE: Final = frozenset({408, 425, 429})


async def fetch(step: HttpRequest, send: Send, profiles: Profiles) -> Any:
    """The response as JSON; an empty one is null."""
    try:
        response = await send(_request(step, profiles))
    except EgressError as error:
        why = f": {error.why}" if error.why else ""
        raise StepError(f"{error.what}{why}", retryable=error.retryable) from error
    status = response.status
    if not 200 <= status < 300:
        raise StepError(f"{_host(step)} answered {status}", retryable=status >= 500 or status in _RETRYABLE)
    if not response.body.strip():
        return None
    try:
        if len(response.body) < LONG:
            return values.parse(response.body)
        return await asyncio.to_thread(values.parse, response.body, max_values=MOST_VALUES)
    except PlaitError as error:
        raise StepError(f"{_host(step)} answered what is not JSON: {error.why or error.what}") from None


def _request(step: HttpRequest, profiles: Profiles) -> Request:
    get = step.method == "GET"
    return Request(
        method=step.method,
        url=_url(step, query=step.params if get else {}),
        headers=_headers(step, profiles),
        json=UNSET if get else step.params,
        timeout=_SECONDS,
        max_bytes=MOST_BYTES,
    )


def _url(step: HttpRequest, query: Mapping[str, Any]) -> str:
    url = step.url if "://" in step.url else f"https://{step.url}"
    if not query:
        return url
    pairs = {name: _texts(value) for name, value in query.items()}
    return f"{url}{'&' if '?' in url else '?'}{urlencode(pairs, doseq=True)}"


def _texts(value: Any) -> str | list[str]:
    """A list repeats the parameter."""
    return [_text(each) for each in cast("list[Any]", value)] if isinstance(value, list) else _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else values.plain(value).decode()


def _headers(step: HttpRequest, profiles: Profiles) -> dict[str, str]:
    headers = {"Accept": "application/json"} | {name: _text(value) for name, value in step.headers.items()}
    if step.auth_profile is None:
        return headers
    profile = profiles.get(step.auth_profile)
    if profile is None:
        raise StepError(f"there is no auth profile `{step.auth_profile}`")
    if isinstance(profile, AuthProfile):
        host = _parsed_host(step)
        if not profile.fits(host):
            raise StepError(f"the auth profile `{step.auth_profile}` is not for {host}")
        profile = profile.headers
    return headers | dict(profile)


def _parsed_host(step: HttpRequest) -> str:
    """The host as the guarded client parses it."""
    try:
        return parse_url(_url(step, {})).host
    except EgressError as error:
        raise StepError(error.what) from error


def _host(step: HttpRequest) -> str:
    """Without the path and the query, which may hold secrets."""
    return step.url.partition("://")[2].partition("/")[0].partition("?")[0] or step.url.partition("/")[0]
