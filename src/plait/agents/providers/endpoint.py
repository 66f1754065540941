"""The endpoint of one model: a client of its provider, under the egress rules.

The operator named the endpoint, so it may be private; but nothing else is reached, wherever a response redirects.
Everything that needs the library is imported from here, so it is loaded with the first call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, assert_never

import httpx2
import msgspec
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import AgentRunError, ContentFilterError, UserError
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model

from plait.agents.model import ModelReply, ModelRequest
from plait.egress import Egress, EgressSettings
from plait.egress.url import parse_url

from .bounded_transport import BoundedTransport
from .conversation import messages_of, parameters_of, reply_of
from .failures import error_of, unreadable
from .secrets import Secret
from .settings import ModelSettings, Provider

_URLS: Final[dict[Provider, str]] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
}
_NO_KEY: Final = "none"
"""Sent to endpoints without a key by clients that insist on one."""


class Endpoint:
    def __init__(
        self, name: str, settings: ModelSettings, key: Secret, headers: Mapping[str, Secret], egress: EgressSettings
    ) -> None:
        self._name = name
        self._settings = settings
        self._headers = headers
        self._secrets = [key, *headers.values()]
        url = settings.url or _URLS[settings.provider]
        self._egress = Egress(rules_for(url, egress, named=settings.url is not None))
        self._client = httpx2.AsyncClient(
            transport=BoundedTransport(self._egress, egress.max_response_bytes),
            headers={"accept-encoding": "identity", "user-agent": egress.user_agent},
            timeout=httpx2.Timeout(egress.max_timeout, connect=egress.connect_timeout),
            trust_env=False,
            follow_redirects=False,
        )
        self._model = _model(settings, url, key.reveal() or _NO_KEY, self._client)

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Raises `ModelError`."""
        try:
            response = await self._response(request)
        except ContentFilterError:
            return ModelReply(finish="refused", model=self._settings.model)
        except (AgentRunError, UserError, ValueError, TypeError, LookupError, AttributeError, OSError) as error:
            # Beside its own errors, the library raises whatever a malformed answer makes it stumble over
            raise error_of(self._name, error, self._secrets) from None
        if not response.parts and response.finish_reason is None:
            raise unreadable(self._name)
        return reply_of(response, self._settings.model)

    async def aclose(self) -> None:
        await self._client.aclose()
        await self._egress.aclose()

    async def _response(self, request: ModelRequest) -> ModelResponse:
        native = self._settings.native_answers
        asked: Any = {
            "model_settings": self._options(request),
            "model_request_parameters": parameters_of(
                request, native_answers=self._settings.provider == "openai" if native is None else native
            ),
            "instrument": False,
        }
        if not self._settings.stream:
            return await model_request(self._model, messages_of(request), **asked)
        async with model_request_stream(self._model, messages_of(request), **asked) as stream:
            async for _ in stream:
                pass
            return stream.get()

    def _options(self, request: ModelRequest) -> Any:
        headers = {name: value.reveal() for name, value in self._headers.items()}
        if request.key and self._settings.provider != "google":
            headers["Idempotency-Key"] = request.key
        options: dict[str, Any] = {
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "timeout": request.timeout,
            "request_timeout": request.timeout,
            "max_retries": 0,  # the kernel retries, in one place for all
            "extra_headers": headers,
        }
        if request.cache_points:
            # With tools there will be more turns, which read the cache that this one wrote
            options["cache"] = {"messages": bool(request.tools)}
        return options


def rules_for(url: str, egress: EgressSettings, *, named: bool) -> EgressSettings:
    """The operator's rules, narrowed to one endpoint: what they deny stays denied."""
    target = parse_url(url)
    return msgspec.structs.replace(
        egress,
        private=egress.private or named,
        allow_hosts=(target.host,),
        allow_ports=(target.port,),
    )


def _model(settings: ModelSettings, url: str, key: str, client: httpx2.AsyncClient) -> Model:
    """Each library is imported only when needed: they take seconds."""
    match settings.provider:
        case "openai":
            from pydantic_ai.models.openai import OpenAIChatModel
            from pydantic_ai.providers.openai import OpenAIProvider

            openai = OpenAIProvider(base_url=url, api_key=key, http_client=client)
            return OpenAIChatModel(settings.model, provider=openai)
        case "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            anthropic = AnthropicProvider(base_url=url, api_key=key, http_client=client)
            return AnthropicModel(settings.model, provider=anthropic)
        case "google":
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            google = GoogleProvider(base_url=url, api_key=key, http_client=client)
            return GoogleModel(settings.model, provider=google)
        case _:
            assert_never(settings.provider)
