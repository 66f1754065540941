"""URLs have one meaning here; what others could read differently is refused."""

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.egress.errors import BadUrl
from plait.egress.url import MAX_LENGTH, parse_url


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://example.com", "http://example.com/"),
        ("HTTPS://Example.COM/A?b=C#d", "https://example.com/A?b=C"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:8443/", "https://example.com:8443/"),
        ("http://example.com./x", "http://example.com/x"),
        ("http://example.com?q", "http://example.com/?q"),
        ("http://example.com/a b/ü?c d=ü", "http://example.com/a%20b/%C3%BC?c%20d=%C3%BC"),
        ("http://example.com/a%2Fb/../c//d", "http://example.com/a%2Fb/../c//d"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://a。b.example/", "http://a.b.example/"),
        ("http://192.0.2.1:81/", "http://192.0.2.1:81/"),
        ("http://１９２.0.2.1/", "http://192.0.2.1/"),
        ("http://[2001:DB8:0:0::1]:81/", "http://[2001:db8::1]:81/"),
        ("http://my_service/", "http://my_service/"),
        ("http://example.com/@not-credentials", "http://example.com/@not-credentials"),
    ],
)
def test_a_url_is_brought_to_one_spelling(text: str, url: str):
    assert parse_url(text).url == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.com",
        "/path",
        "//example.com/",
        "http:/example.com",
        "http:example.com",
        "http://",
        "http:///path",
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_FLUSHALL",
        "javascript:alert(1)",
        "http://user@example.com/",
        "http://user:secret@example.com/",
        "http://example.com@127.0.0.1/",
        "http://@example.com/",
        "http://example.com\\@127.0.0.1/",
        "http:\\\\example.com\\",
        " http://example.com/",
        "http://example.com/ ",
        "http://example.com/\r\nHost: other",
        "http://exa\tmple.com/",
        "http://example.com/\x00",
        "http://example.com/\ud800",
        "http://exam ple.com/",
        "http://127.0.0.1%2f.example.com/",
        "http://%31%32%37.0.0.1/",
        "http://example..com/",
        "http://example.com../",
        "http://.example.com/",
        "http://-a.example/",
        "http://a:b/",
        "http://example.com:/",
        "http://example.com:0/",
        "http://example.com:65536/",
        "http://example.com:８０/",
        "http://example.com:80:80/",
        "http://[::1/",
        "http://::1/",
        "http://[fe80::1%25eth0]/",
        "http://[fe80::1%eth0]/",
        "http://[127.0.0.1]/",
        "http://[]/",
        f"http://{'a' * 64}.example/",
        f"http://{'a.' * 140}example/",
        f"http://example.com/{'a' * MAX_LENGTH}",
        "http://２１３０７０６４３３/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.0x0.0x0.0x1/",
        "http://017700000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.1/",
        "http://127.0.0.01/",
        "http://127.0.0.1../",
        "http://256.0.0.1/",
        "http://1.2.3.4.5/",
        "http://example.123/",
        "http://0x/",
        "http://xn--\u200b.example/",
    ],
)
def test_a_url_that_could_mislead_is_refused(text: str):
    with pytest.raises(BadUrl) as caught:
        parse_url(text)
    assert caught.value.code == "egress.bad_url"
    assert caught.value.retryable is False


def test_what_is_said_about_a_bad_url_does_not_repeat_its_secrets():
    with pytest.raises(BadUrl) as caught:
        parse_url("http://user:hunter2@example.com/")
    assert "hunter2" not in str(caught.value)


@given(st.text(alphabet="0123456789abcdefxX.１２٣。｡０ⅠⅤ⑦", min_size=1, max_size=24))
def test_what_passes_as_a_name_is_never_an_address_to_the_system(host: str):
    try:
        target = parse_url(f"http://{host}/")
    except BadUrl:
        return
    if target.literal is None:
        with pytest.raises(OSError, match="illegal IP address"):
            socket.inet_aton(target.host)
    else:
        assert socket.inet_aton(target.host) == target.literal.packed


@given(st.text(max_size=60))
def test_whatever_is_given_is_read_or_refused(text: str):
    for url in (text, f"http://{text}", f"http://example.com/{text}"):
        try:
            target = parse_url(url)
        except BadUrl:
            continue
        assert parse_url(target.url) == target
        assert target.url.isascii()
        assert target.url.isprintable()
        assert " " not in target.url
