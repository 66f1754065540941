"""What browsers say about where a request comes from."""

import pytest

from plait.server.auth.origins import cross_origin, origin_of

OWN = {"host": "plait.example"}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "https://plait.example"},
        {"origin": "http://plait.example"},
        {"origin": "https://PLAIT.example"},
        {"origin": "https://plait.example:443"},
        {"origin": "https://plait.example", "host": "plait.example:443"},
        {"origin": "http://[::1]:8400", "host": "[::1]:8400"},
        {"origin": "https://plait.example", "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
    ],
)
def test_our_own_pages_and_programs_are_not_cross_origin(headers: dict[str, str]):
    assert cross_origin(OWN | headers) == ""


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "https://plait.example.evil.example"},
        {"origin": "https://evilplait.example"},
        {"origin": "https://plait.example:8443"},
        {"origin": "http://plait.example:443"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "https://plait.example@evil.example"},
        {"origin": "https://[broken"},
        {"origin": "https://plait.example", "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "", "host": ""},
        {"origin": "https://", "host": ""},
    ],
)
def test_pages_of_others_are_cross_origin(headers: dict[str, str]):
    assert cross_origin(OWN | headers) != ""


def test_behind_a_proxy_the_public_address_is_ours():
    headers = {"host": "10.0.0.7:8400", "origin": "https://plait.example"}
    assert cross_origin(headers) != ""
    assert cross_origin(headers, [origin_of("https://plait.example/ui/")]) == ""
    assert cross_origin(headers | {"origin": "https://evil.example"}, [origin_of("https://plait.example")]) != ""


def test_the_public_address_with_a_default_port_is_written_as_browsers_do():
    assert origin_of("https://Plait.Example:443/x") == "https://plait.example"
    assert origin_of("http://127.0.0.1:8400") == "http://127.0.0.1:8400"
