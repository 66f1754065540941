"""A server without keys starts only where nobody else can reach it."""

import pytest

from plait.errors import InvalidInput
from plait.server.auth.loopback import refuse_open

LOOPBACK = ["127.0.0.1", "127.8.9.10", "::1", "[::1]", "localhost", "LOCALHOST"]
REACHABLE = [
    "0.0.0.0",
    "::",
    "",
    "192.168.1.4",
    "10.0.0.1",
    "8.8.8.8",
    "fe80::1",
    "plait.example",
    "localhost.evil.example",
]


@pytest.mark.parametrize("host", LOOPBACK)
def test_an_open_server_may_listen_on_this_machine(host: str):
    refuse_open(host, open=True)


@pytest.mark.parametrize("host", REACHABLE)
def test_an_open_server_may_not_listen_where_others_reach_it(host: str):
    with pytest.raises(InvalidInput) as refused:
        refuse_open(host, open=True)
    assert refused.value.code == "auth.open_server"
    assert "plait keys create" in refused.value.fix


@pytest.mark.parametrize("host", LOOPBACK + REACHABLE)
def test_a_server_with_keys_may_listen_anywhere(host: str):
    refuse_open(host, open=False)
