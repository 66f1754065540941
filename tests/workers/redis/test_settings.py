"""One URL says where Redis is and how its workers are treated."""

import pytest

from plait.errors import InvalidInput
from plait.workers.redis.names import in_flight, signals, stream
from plait.workers.redis.settings import RedisSettings, settings_of


def test_our_options_are_taken_out_and_those_of_the_client_stay():
    found = settings_of("redis://:secret@host:6380/2?lease=5&protocol=2&require_signed_results=TRUE")
    assert found == RedisSettings("redis://:secret@host:6380/2?protocol=2", 5.0, require_signed_results=True)
    assert found.shown == "redis://host:6380/2"


@pytest.mark.parametrize("url", ["redis://host", "rediss://host:1/0", "unix:///run/redis.sock"])
def test_defaults(url: str):
    assert settings_of(url) == RedisSettings(url, 30.0, require_signed_results=False)


@pytest.mark.parametrize(
    "url",
    [
        *("http://host", "host:6379", "", "redis://host?lease=0", "redis://host?lease=x", "redis://host?lease=nan"),
        *("redis://host?require_signed_results=perhaps", "redis://u:secret@host?lease=1e9"),
    ],
)
def test_a_url_that_makes_no_sense_is_refused_without_its_password(url: str):
    with pytest.raises(InvalidInput) as refused:
        settings_of(url)
    assert refused.value.code == "redis.bad_url"
    assert "secret" not in str(refused.value)


def test_names_of_keys():
    assert stream("default", "gpu") == stream("default", "wf.tasks.gpu") == "wf.tasks.gpu"
    assert stream("acme", "gpu") == "tenant:acme:wf.tasks.gpu"
    assert signals("acme") == "tenant:acme:completion_signals"
    assert in_flight("default") == "completion_signals:in_flight"
