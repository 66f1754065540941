"""One configured model: passes requests to a provider's endpoint. Keeps connections, and no other state."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from plait.agents.model import ModelReply, ModelRequest
from plait.egress import EgressSettings
from plait.extras import extra

from .secrets import Secret
from .settings import Configured, ModelSettings, key_of

if TYPE_CHECKING:
    from .endpoint import Endpoint


class ProviderModel:
    """A `Model`, for one event loop. Costs nothing until the first call."""

    def __init__(
        self,
        name: str,
        settings: ModelSettings,
        key: Secret,
        *,
        headers: Mapping[str, str] | None = None,
        egress: EgressSettings | None = None,
    ) -> None:
        self.name = name
        self._settings = settings
        self._key = key
        self._headers = {header: Secret(value) for header, value in (headers or {}).items()}
        self._egress = egress or EgressSettings()
        self._endpoint: Endpoint | None = None
        self._opening = asyncio.Lock()

    def __repr__(self) -> str:
        return f"<model {self.name}: {self._settings.model} by {self._settings.provider}>"

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Makes one call and never retries; that is up to the caller. Raises `ModelError`."""
        endpoint = self._endpoint or await self._opened()
        return await endpoint.complete(request)

    async def aclose(self) -> None:
        if self._endpoint is not None:
            await self._endpoint.aclose()
            self._endpoint = None

    async def _opened(self) -> Endpoint:
        async with self._opening:
            if self._endpoint is None:
                with extra("agents", "Language models"):
                    self._endpoint = await asyncio.to_thread(self._made)  # importing the library takes seconds
            return self._endpoint

    def _made(self) -> Endpoint:
        from .endpoint import Endpoint

        return Endpoint(self.name, self._settings, self._key, self._headers, self._egress)


def models_of(
    configured: Configured, environment: Mapping[str, str], egress: EgressSettings | None = None
) -> dict[str, ProviderModel]:
    """The models of an operator's settings, by name. Raises `InvalidInput` if a model lacks a key."""
    return {
        name: ProviderModel(
            name,
            settings,
            key_of(name, settings, environment),
            headers=configured.auth_profiles[settings.auth_profile].headers if settings.auth_profile else None,
            egress=egress,
        )
        for name, settings in configured.models.items()
    }
