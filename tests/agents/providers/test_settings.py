from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from plait.agents.prices import Price
from plait.agents.providers.provider_model import models_of
from plait.agents.providers.secrets import Secret, hide
from plait.agents.providers.settings import VARIABLE, configured, key_of, read_model, read_settings
from plait.kernel.errors import InvalidInput

KEY = "sk-0123456789"
FAST = {"provider": "anthropic", "model": "big-1", "price": {"input": 1, "output": 5, "cached": 0.1}}


def test_a_file_that_the_environment_names_has_models_prices_and_profiles(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    profiles = {"crm": {"headers": {"Authorization": "Bearer ${CRM_TOKEN}"}, "hosts": ["crm.example"]}}
    file.write_text(json.dumps({"models": {"fast": FAST}, "auth_profiles": profiles}))
    found = configured({VARIABLE: str(file), "CRM_TOKEN": "crm-secret"})
    assert found.models["fast"].model == "big-1"
    assert found.prices.of("fast") == Price(1, 5, 0.1)
    assert found.auth_profiles["crm"].headers["Authorization"] == "Bearer crm-secret"
    assert "crm-secret" not in repr(found)


def test_without_a_file_there_are_no_models() -> None:
    assert configured({}).models == {}


def test_a_model_has_the_key_of_its_variable_and_shows_it_to_nobody() -> None:
    found = read_settings({"models": {"fast": FAST}}, {})
    made = models_of(found, {"ANTHROPIC_API_KEY": KEY})["fast"]
    assert KEY not in repr(made) + str(vars(made))
    assert "fast" in repr(made)


def test_a_usual_key_is_not_sent_to_an_endpoint_elsewhere() -> None:
    elsewhere = read_model("local", {"provider": "openai", "model": "m", "url": "http://10.0.0.7:8000/v1"})
    assert not key_of("local", elsewhere, {"OPENAI_API_KEY": KEY})


def test_an_endpoint_elsewhere_gets_the_key_that_was_named_for_it() -> None:
    elsewhere = {"provider": "openai", "model": "m", "url": "https://x.example/v1", "key_env": "X_KEY"}
    assert key_of("x", read_model("x", elsewhere), {"X_KEY": KEY}).reveal() == KEY


def test_a_missing_key_is_told_with_the_name_of_its_variable() -> None:
    with pytest.raises(InvalidInput, match="no key") as refused:
        key_of("fast", read_model("fast", FAST), {})
    assert "ANTHROPIC_API_KEY" in refused.value.text


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"modells": {}},
        {"models": {"fast": {"provider": "bedrock", "model": "m"}}},
        {"models": {"fast": {"provider": "openai"}}},
        {"models": {"fast": {"provider": "openai", "model": ""}}},
        {"models": {"fast": {"provider": "openai", "model": "m", "url": "file:///etc/passwd"}}},
        {"models": {"fast": {"provider": "openai", "model": "m", "key": KEY}}},
        {"models": {"fast": {"provider": "openai", "model": "m", "auth_profile": "none"}}},
        {"models": {"two words": {"provider": "openai", "model": "m"}}},
        {"models": {"fast": {**FAST, "price": {"input": -1, "output": 1}}}},
        {"auth_profiles": {"crm": {"Authorization": "${NOT_SET}"}}},
    ],
)
def test_settings_that_can_not_be_used_are_refused_without_showing_a_key(document: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_settings(document, {})
    assert refused.value.code in ("agent.bad_model_settings", "agent.bad_price", "agent.bad_auth_profile")
    assert KEY not in refused.value.text


@pytest.mark.parametrize("text", ["{", ""])
def test_a_file_that_is_no_json_is_refused_by_its_name(tmp_path: Path, text: str) -> None:
    file = tmp_path / "models.json"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=r"models\.json"):
        configured({VARIABLE: str(file)})


def test_a_secret_is_hidden_wherever_it_is_printed() -> None:
    secret = Secret(f"Bearer {KEY}")
    assert KEY not in f"{secret} {secret!r} {[secret]}"
    assert hide(f"key {KEY} and Bearer {KEY}", [secret]) == "key [secret] and [secret]"
    with pytest.raises(TypeError):
        pickle.dumps(secret)


def test_a_short_secret_does_not_hide_every_letter() -> None:
    assert hide("a plain text", [Secret("a"), Secret("")]) == "a plain text"


def test_the_library_is_not_imported_before_the_first_call() -> None:
    script = (
        "import sys, plait, plait.agents, plait.agents.providers.provider_model; print('pydantic_ai' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "False"
