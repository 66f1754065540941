"""The models that an operator configured: a JSON file named by the environment, or the same as a mapping.

    {"models": {"fast": {"provider": "anthropic", "model": "…", "key_env": "ANTHROPIC_API_KEY",
                         "price": {"input": 1, "output": 5, "cached": 0.1}},
                "local": {"provider": "openai", "model": "…", "url": "http://10.0.0.7:8000/v1"}},
     "auth_profiles": {"crm": {"headers": {"Authorization": "Bearer ${CRM_TOKEN}"}, "hosts": ["crm.example.com"]}}}

Keys are never written there: `key_env` names the variable that holds the key, and `${NAME}` in a profile's header is
replaced by the variable NAME.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from plait.agents.auth_profiles import AuthProfile, read_auth_profiles
from plait.agents.prices import Price, Prices, read_price
from plait.kernel import values
from plait.kernel.errors import InvalidInput, PlaitError

from .secrets import Secret

VARIABLE: Final = "PLAIT_MODELS"
Provider = Literal["openai", "anthropic", "google"]

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}", re.ASCII)
_KEYS: Final[dict[Provider, str]] = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "google": "GOOGLE_API_KEY",
}


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One model. `openai` is everything that speaks OpenAI's chat completions, wherever it runs."""

    provider: Provider
    model: Annotated[str, Meta(min_length=1, max_length=200)]
    """The provider's name for it."""
    url: Annotated[str, Meta(pattern="^https?://")] | None = None
    """None: the provider's own. It may be private, because the operator named it."""
    key_env: str | None = None
    """The variable that holds the key; None: the provider's usual one. A model at a `url` may need none."""
    auth_profile: str | None = None
    """Headers sent with each call, beside or instead of a key."""
    stream: bool = False
    """Stream the answer: for endpoints that cut long silences."""
    native_answers: bool | None = None
    """Let the provider enforce the schema of an answer; None: if the provider accepts any schema. Otherwise the schema
    is part of the prompt. Either way the answer is checked."""
    price: Price | None = None


class Configured(msgspec.Struct, frozen=True):
    models: Mapping[str, ModelSettings] = {}
    auth_profiles: Mapping[str, AuthProfile] = {}
    """With complete headers, so never to be shown."""

    @property
    def prices(self) -> Prices:
        return Prices({name: each.price for name, each in self.models.items() if each.price is not None})

    def __repr__(self) -> str:
        return f"Configured(models={sorted(self.models)}, auth_profiles={sorted(self.auth_profiles)})"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    models: dict[str, dict[str, Any]] = {}
    auth_profiles: dict[str, dict[str, Any]] = {}


def configured(environment: Mapping[str, str]) -> Configured:
    """The settings in the file that `PLAIT_MODELS` names; empty if it is unset. Raises `InvalidInput`."""
    path = environment.get(VARIABLE)
    return read_settings(_document(Path(path)), environment) if path else Configured()


def read_settings(document: Any, environment: Mapping[str, str]) -> Configured:
    try:
        found = msgspec.convert(document, _File)
    except msgspec.ValidationError as error:
        raise _bad("the settings of models can't be read", str(error)) from None
    profiles = {
        name: msgspec.structs.replace(profile, headers=_headers(name, profile.headers, environment))
        for name, profile in read_auth_profiles(found.auth_profiles).items()
    }
    models = {name: read_model(name, each) for name, each in found.models.items()}
    for name, each in models.items():
        if each.auth_profile is not None and each.auth_profile not in profiles:
            raise _bad(f"the model {name!r} can't be used", f"there is no auth profile {each.auth_profile!r}")
    return Configured(models, profiles)


def read_model(name: str, given: Mapping[str, Any]) -> ModelSettings:
    if not _NAME.fullmatch(name):
        raise _bad(f"a model can't have the name {name[:80]!r}", "names have letters, digits, `.`, `_` and `-`")
    try:
        found = msgspec.convert(dict(given), ModelSettings)
    except msgspec.ValidationError as error:
        raise _bad(f"the model {name!r} can't be read", str(error)) from None
    if found.price is not None:
        read_price(name, found.price)
    return found


def key_of(name: str, settings: ModelSettings, environment: Mapping[str, str]) -> Secret:
    """Raises `InvalidInput` if the variable is empty and the provider needs a key."""
    variable = settings.key_env or _KEYS[settings.provider]
    key = environment.get(variable, "").strip()
    elsewhere = settings.url is not None and settings.key_env is None
    if key or elsewhere or settings.auth_profile is not None:
        # A provider's usual key goes only to that provider: an endpoint elsewhere gets the key named for it, or none
        return Secret("" if elsewhere else key)
    raise _bad(f"the model {name!r} has no key", f"the variable {variable} is not set", f"set {variable}, or `key_env`")


def _document(path: Path) -> Any:
    try:
        return values.parse(path.read_bytes())
    except OSError as error:
        raise _bad(f"{path} can't be read", error.strerror or str(error)) from None
    except PlaitError as error:
        raise _bad(f"{path} is not JSON", error.why or error.what) from None


def _headers(profile: str, given: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    def value(found: re.Match[str]) -> str:
        if found[1] not in environment:
            raise _bad(f"the auth profile {profile!r} can't be used", f"the variable {found[1]} is not set")
        return environment[found[1]].strip()

    return {name: _REFERENCE.sub(value, text) for name, text in given.items()}


def _bad(what: str, why: str, fix: str = "") -> InvalidInput:
    usual = 'write {"models": {"NAME": {"provider": "openai", "model": "…", "key_env": "…"}}, "auth_profiles": {…}}'
    return InvalidInput("agent.bad_model_settings", what, why=why, fix=fix or usual)
