"""The tool `openapi_action`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET

from plait.agents.auth_profiles import AuthProfile
from plait.agents.providers.secrets import Secret, hide
from plait.agents.tools.tool import ToolFault, ToolUse
from plait.egress import Request, Response
from plait.egress.errors import EgressError
from plait.egress.url import parse_url
from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import PlaitError

from . import arguments as call
from .document import Documents, Send, said
from .operation import Operation, find

_MOST_BYTES: Final = 1024 * 1024
_SECONDS: Final = 30.0
_SHOWN: Final = 500
_TEXT: Final = {"type": "string", "minLength": 1, "maxLength": 2_000}


class OpenapiAction:
    name = "openapi_action"
    description = "Calls one operation of an HTTP API that an OpenAPI document describes."
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "openapi_url": {**_TEXT, "description": "Where the document is, as JSON."},
            "operation_id": {**_TEXT, "description": "The `operationId`."},
            "params": {"type": "object", "description": "Parameters by name; the JSON body as `body`."},
            "auth_profile": {**_TEXT, "description": "The name of credentials that the operator set up."},
        },
        "required": ["openapi_url", "operation_id"],
        "additionalProperties": False,
    }

    def __init__(self, send: Send, clock: Clock, auth_profiles: Mapping[str, AuthProfile] | None = None) -> None:
        self._send = send
        self._documents = Documents(send, clock)
        self._profiles = auth_profiles or {}

    async def call(self, arguments: Mapping[str, Any], use: ToolUse) -> Any:
        """The API's response: `{status, body}`."""
        try:
            return await self._called(arguments, use)
        except ToolFault as fault:
            raise ToolFault(hide(str(fault), self._secrets())) from None

    async def _called(self, arguments: Mapping[str, Any], use: ToolUse) -> Any:
        url = str(arguments["openapi_url"])
        params: Mapping[str, Any] = arguments.get("params") or {}
        document = await self._documents.get(url)
        operation = find(document, url, str(arguments["operation_id"]))
        if flaws := call.flaws(document, operation, params):
            raise ToolFault(f"these parameters don't fit `{operation.id}`: {'; '.join(flaws)}")
        request = self._request(operation, params, arguments.get("auth_profile"), use)
        try:
            return self._result(await self._send(request))
        except EgressError as error:
            raise ToolFault(f"`{operation.id}` failed: {said(error)}") from error

    def _request(self, operation: Operation, params: Mapping[str, Any], profile: Any, use: ToolUse) -> Request:
        address = call.address(operation, params)
        try:
            host = parse_url(address).host
        except EgressError as error:
            raise ToolFault(f"`{operation.id}` can't be called: {said(error)}") from error
        own = call.headers(operation, params)
        secret = {} if profile is None else self._credentials(str(profile), host)
        return Request(
            method=operation.method,
            url=address,
            headers={"accept": "application/json", **{k.lower(): v for k, v in own.items()}, **secret},
            json=params.get(call.BODY, UNSET) if operation.body is not None else UNSET,
            timeout=_SECONDS,
            max_bytes=_MOST_BYTES,
            idempotency_key=use.key,
        )

    def _credentials(self, name: str, host: str) -> dict[str, str]:
        profile = self._profiles.get(name)
        if profile is None:
            raise ToolFault(f"there is no auth profile `{name[:100]}`")
        if not profile.fits(host):
            raise ToolFault(f"the auth profile `{name[:100]}` is not for {host}")
        return {header.lower(): value for header, value in profile.headers.items()}

    def _result(self, response: Response) -> dict[str, Any]:
        try:
            body = values.parse(response.body) if response.body.strip() else None
        except PlaitError:
            body = response.body.decode(errors="replace").replace("\0", "")
        if not 200 <= response.status < 300:
            detail = body if isinstance(body, str) else values.plain(body).decode()
            raise ToolFault(f"the API answered {response.status}: {detail[:_SHOWN]}")
        return {"status": response.status, "body": self._without_secrets(body)}

    def _without_secrets(self, body: Any) -> Any:
        """An API may echo the credentials that it was sent."""
        text = values.plain(body).decode()
        hidden = hide(text, self._secrets())
        return body if hidden == text else values.decode(hidden.encode())

    def _secrets(self) -> list[Secret]:
        return [Secret(value) for profile in self._profiles.values() for value in profile.headers.values()]
