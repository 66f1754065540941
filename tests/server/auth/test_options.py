"""How the door is set up from the environment."""

import pytest

from plait.errors import InvalidInput
from plait.server.auth import AuthOptions, Oidc


def test_nothing_set_means_keys_only_and_a_secret_of_our_own():
    assert AuthOptions.from_environment({}) == AuthOptions()
    assert AuthOptions.from_environment({"PLAIT_SECRET": ""}).secret is None


def test_secret_and_issuer_come_from_the_environment():
    found = AuthOptions.from_environment(
        {
            "PLAIT_SECRET": "s" * 40,
            "PLAIT_OIDC_ISSUER": "https://login.example.org",
            "PLAIT_OIDC_AUDIENCE": "plait",
        },
        "https://plait.example.org",
    )
    assert found.secret == "s" * 40
    assert found.oidc == Oidc("https://login.example.org", "plait")
    assert found.public_url == "https://plait.example.org"


def test_an_audience_without_an_issuer_is_a_mistake():
    with pytest.raises(InvalidInput) as refused:
        AuthOptions.from_environment({"PLAIT_OIDC_AUDIENCE": "plait"})
    assert refused.value.code == "auth.bad_issuer"
