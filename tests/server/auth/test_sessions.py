"""Browser sessions: cookies, CSRF, signing out, and what ends them."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plait.errors import PlaitError
from plait.server.auth import KeyGuard
from plait.server.auth.sessions import LIFETIME
from plait.server.auth.ttl_cache import SECONDS
from tests.support.effort import examples

from .conftest import OpenGuard
from .support import HandClock, bearer, cookies_of, request, use_steadily


async def sign_in(door: KeyGuard, role: str = "operator", **options) -> tuple[str, dict[str, str]]:
    """The key's id, and the cookies a browser then has."""
    key, text = await door.keys.create("ann", role, **options)
    login = await door.login(request("POST"), text)
    return key.id, cookies_of(login.cookies)


async def code_of(door: KeyGuard, method: str = "GET", **options) -> str:
    with pytest.raises(PlaitError) as refused:
        await door.check(request(method, **options), "any")
    return refused.value.code


def csrf(cookies: dict[str, str]) -> dict[str, str]:
    return {"x-plait-csrf": cookies["plait_csrf"]}


async def test_a_browser_that_showed_a_key_is_known_by_its_cookie(guard: OpenGuard):
    async with guard() as door:
        id, cookies = await sign_in(door, namespace="team-a")
        caller = await door.check(request(cookies=cookies), "operator")
    assert (caller.name, caller.role, caller.namespace, caller.mode) == ("ann", "operator", "team-a", "session")
    assert getattr(caller, "id") == f"key:{id}"  # noqa: B009


@pytest.mark.parametrize(
    ("scheme", "public_url", "secure"),
    [("http", "", False), ("https", "", True), ("http", "https://plait.example", True)],
)
async def test_the_cookies_follow_the_rules(guard: OpenGuard, scheme: str, public_url: str, secure: bool):
    async with guard(public_url=public_url) as door:
        _, text = await door.keys.create("ann", "viewer")
        session, token = (await door.login(request("POST", scheme=scheme), text)).cookies
        dropped = await door.logout(request("DELETE", cookies=cookies_of((session, token)), scheme=scheme))
    assert "; HttpOnly" in session
    assert "HttpOnly" not in token
    for cookie in (session, token):
        assert "; SameSite=Strict" in cookie
        assert "; Path=/" in cookie
        assert f"; Max-Age={LIFETIME}" in cookie
        assert ("; Secure" in cookie) == secure
    for cookie in dropped:
        assert "=; Path=/; Max-Age=0" in cookie
    assert text.split("_", 2)[2] not in session + token


async def test_a_session_of_a_key_that_expires_sooner_ends_with_it(guard: OpenGuard, clock: HandClock):
    async with guard() as door:
        _, text = await door.keys.create("ann", "viewer", expires_in=100)
        login = await door.login(request("POST"), text)
        assert int(login.cookies[0].partition("Max-Age=")[2].partition(";")[0]) <= 100
        clock.forward(100)
        assert await code_of(door, cookies=cookies_of(login.cookies)) == "auth.expired"


async def test_a_session_ends_by_time(guard: OpenGuard, clock: HandClock):
    async with guard(session_seconds=60) as door:
        _, cookies = await sign_in(door)
        await door.check(request(cookies=cookies), "any")
        clock.forward(60)
        assert await code_of(door, cookies=cookies) == "auth.expired"


async def test_revoking_the_key_ends_its_sessions_in_every_process(guard: OpenGuard, clock: HandClock):
    async with guard() as here, guard() as there:
        id, cookies = await sign_in(here)
        await there.check(request(cookies=cookies), "any")
        await here.keys.revoke(id)
        assert await code_of(here, cookies=cookies) == "auth.bad_key"
        clock.forward(SECONDS)
        assert await code_of(there, cookies=cookies) == "auth.bad_key"


async def test_signing_out_makes_copies_of_the_cookie_worthless(guard: OpenGuard, clock: HandClock):
    async with guard() as here, guard() as there:
        _, cookies = await sign_in(here)
        await there.check(request(cookies=cookies), "any")
        await here.logout(request("DELETE", cookies=cookies))
        assert await code_of(here, cookies=cookies) == "auth.expired"
        clock.forward(SECONDS)
        assert await code_of(there, cookies=cookies) == "auth.expired"


@pytest.mark.parametrize("ending", ["revoke", "sign out"])
async def test_a_session_in_steady_use_ends_all_the_same(guard: OpenGuard, clock: HandClock, ending: str):
    async with guard() as here, guard() as there:
        id, cookies = await sign_in(here)
        await there.check(request(cookies=cookies), "any")
        if ending == "revoke":
            await here.keys.revoke(id)
        else:
            await here.logout(request("DELETE", cookies=cookies))
        with pytest.raises(PlaitError):
            await use_steadily(clock, lambda: there.check(request(cookies=cookies), "any"))


async def test_signing_out_without_a_session_does_nothing(guard: OpenGuard):
    async with guard() as door:
        assert len(await door.logout(request("DELETE"))) == 2
        assert len(await door.logout(request("DELETE", cookies={"plait_session": "plait1.old"}))) == 2


async def test_the_database_holds_no_session_to_take_over(guard: OpenGuard, tmp_path: Path):
    async with guard() as door:
        _, cookies = await sign_in(door)
        on_disk = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
    assert b"auth.session" in on_disk
    assert cookies["plait_session"].encode() not in on_disk
    assert cookies["plait_csrf"].encode() not in on_disk


async def test_sessions_of_the_past_are_swept(guard: OpenGuard, clock: HandClock):
    async with guard(session_seconds=60) as door:
        for _ in range(5):
            await sign_in(door)
        clock.forward(61)
        _, cookies = await sign_in(door)
        records = door.keys._records
        assert len(await records.list("auth.session")) == 1
        await door.check(request(cookies=cookies), "any")


# -- requests that change something -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
async def test_a_change_needs_the_csrf_token(guard: OpenGuard, method: str):
    async with guard() as door:
        _, cookies = await sign_in(door)
        assert await code_of(door, method, cookies=cookies) == "auth.cross_site"
        caller = await door.check(request(method, cookies=cookies, headers=csrf(cookies)), "any")
        assert caller.name == "ann"


async def test_the_csrf_token_of_another_session_does_not_fit(guard: OpenGuard):
    async with guard() as door:
        _, own = await sign_in(door)
        _, other = await sign_in(door)
        for wrong in (other["plait_csrf"], "", own["plait_csrf"][:-1], own["plait_csrf"].upper() + "x", "\xff"):
            headers = {"x-plait-csrf": wrong}
            tossed = own | {"plait_csrf": wrong}  # an attacker may plant a cookie, but can't make it fit
            assert await code_of(door, "POST", cookies=tossed, headers=headers) == "auth.cross_site"


@pytest.mark.parametrize(
    "says",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
async def test_a_change_from_another_site_is_refused_even_with_the_token(guard: OpenGuard, says: dict[str, str]):
    async with guard() as door:
        _, cookies = await sign_in(door)
        assert await code_of(door, "POST", cookies=cookies, headers=csrf(cookies) | says) == "auth.cross_site"
        _, text = await door.keys.create("ann", "viewer")
        with pytest.raises(PlaitError) as refused:
            await door.login(request("POST", headers=says), text)
        assert refused.value.code == "auth.cross_site"


async def test_behind_a_proxy_changes_come_from_the_public_address(guard: OpenGuard):
    async with guard(public_url="https://plait.example/") as door:
        _, cookies = await sign_in(door)
        behind = {"host": "10.0.0.7:8400", "origin": "https://plait.example"}
        await door.check(request("POST", cookies=cookies, headers=csrf(cookies) | behind), "any")


async def test_a_program_with_a_key_needs_no_csrf_token(guard: OpenGuard):
    async with guard() as door:
        _, text = await door.keys.create("ci", "operator")
        await door.check(request("POST", headers=bearer(text) | {"origin": "https://other.example"}), "any")


async def test_a_bad_key_is_not_made_good_by_a_cookie(guard: OpenGuard):
    async with guard() as door:
        _, cookies = await sign_in(door)
        assert await code_of(door, cookies=cookies, headers=bearer("plait_x_y")) == "auth.bad_key"


async def test_a_password_for_a_proxy_does_not_disturb_the_session(guard: OpenGuard):
    async with guard() as door:
        _, cookies = await sign_in(door)
        await door.check(request(cookies=cookies, headers={"authorization": "Basic dTpw"}), "any")


# -- attacks on the cookie ----------------------------------------------------------------------------------------


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
async def test_a_cookie_with_any_bit_flipped_is_refused(guard: OpenGuard, data: st.DataObject):
    async with guard(wrong_keys=10_000) as door:
        _, cookies = await sign_in(door)
        text = cookies["plait_session"]
        at = data.draw(st.integers(0, len(text) - 1))
        flipped = text[:at] + chr(ord(text[at]) ^ (1 << data.draw(st.integers(0, 7)))) + text[at + 1 :]
        with pytest.raises(PlaitError) as refused:
            await door._sessions.find(flipped)
        assert refused.value.code == "auth.bad_key"


async def test_a_session_signed_with_another_secret_is_refused(guard: OpenGuard):
    async with guard(secret="a" * 32) as one, guard(secret="b" * 32) as other:
        _, cookies = await sign_in(one)
        assert await code_of(other, cookies=cookies) == "auth.bad_key"


async def test_who_knows_the_signing_secret_and_the_database_still_has_no_session(guard: OpenGuard):
    import msgspec

    from plait.server.auth.secret import signing_secret
    from plait.server.auth.sessions import _Ticket
    from plait.server.auth.signing import Signer

    async with guard() as door:
        _, cookies = await sign_in(door)
        await door.check(request(cookies=cookies), "any")
        records = door.keys._records
        (kept,) = await records.list("auth.session")
        secret = await signing_secret(records, kept.at)
        forged = Signer(secret, "session").sign(msgspec.json.encode(_Ticket(kept.id, "guess")))
        assert await code_of(door, cookies={"plait_session": forged}) == "auth.bad_key"


async def test_a_link_is_no_session(guard: OpenGuard):
    async with guard() as door:
        minted = door.links.mint("hook", "default", "r-1", name="go")
        assert await code_of(door, cookies={"plait_session": minted.token}) == "auth.bad_key"
