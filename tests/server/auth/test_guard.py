"""The guard: whom it lets in, whom it refuses, and what it says."""

from typing import get_args

import pytest

from plait.api.caller import Caller, Role
from plait.errors import PlaitError
from plait.server.auth import KeyGuard, Oidc

from .conftest import OpenGuard
from .issuer import AUDIENCE, LittleIssuer
from .support import HandClock, bearer, request
from .test_roles import MAY, NEEDS, forbidden


async def refusal(guard: KeyGuard, *, need: str = "any", **options) -> PlaitError:
    with pytest.raises(PlaitError) as refused:
        await guard.check(request(**options), need)  # type: ignore[arg-type]
    return refused.value


async def test_a_key_in_the_header_says_who_calls(guard: OpenGuard):
    async with guard() as door:
        key, text = await door.keys.create("ci", "operator", "team-a")
        caller = await door.check(request(headers=bearer(text)), "operator")
    assert caller == Caller("ci", "operator", "team-a", "key", f"key:{key.id}", "192.0.2.7")


@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "Bearer "])
async def test_the_scheme_is_read_as_the_standard_says(guard: OpenGuard, scheme: str):
    async with guard() as door:
        _, text = await door.keys.create("ci", "operator")
        await door.check(request(headers={"authorization": f"{scheme} {text}"}), "any")


@pytest.mark.parametrize("role", get_args(Role))
async def test_every_role_gets_through_exactly_where_the_table_says(guard: OpenGuard, role: Role):
    async with guard() as door:
        _, text = await door.keys.create("x", role, "team-a")
        for needs in NEEDS:
            if needs in MAY[role]:
                await door.check(request(headers=bearer(text)), needs)
            else:
                error = await refusal(door, need=needs, headers=bearer(text))
                assert (error.status, error.code) == (403, forbidden(role))
                assert getattr(error, "caller").name == "x"  # noqa: B009


async def test_without_a_key_the_answer_is_401_and_says_how(guard: OpenGuard):
    async with guard() as door:
        for headers in ({}, {"authorization": ""}, {"authorization": "Basic dTpw"}):
            error = await refusal(door, headers=headers)
            assert (error.status, error.code) == (401, "auth.no_key")
            assert getattr(error, "headers")["www-authenticate"] == 'Bearer realm="plait"'  # noqa: B009


@pytest.mark.parametrize("text", ["", "x", "plait_1_2", "eyJhbGciOiJub25lIn0.e30.", "\xe9\xff", "a b c"])
async def test_a_bad_key_is_401_and_names_a_stranger_for_the_audit(guard: OpenGuard, text: str):
    async with guard() as door:
        error = await refusal(door, headers=bearer(text))
        assert (error.status, error.code) == (401, "auth.bad_key")
        assert 'error="invalid_token"' in getattr(error, "headers")["www-authenticate"]  # noqa: B009
        who = getattr(error, "caller")  # noqa: B009
        assert (who.name, who.id, who.address) == ("nobody", "", "192.0.2.7")


async def test_tokens_and_keys_are_both_taken_where_an_issuer_is_set_up(guard: OpenGuard):
    async with LittleIssuer() as issuer:
        issuer.add("k1", "ES256")
        async with guard(oidc=Oidc(issuer.url, AUDIENCE)) as door:
            _, text = await door.keys.create("ci", "viewer")
            assert (await door.check(request(headers=bearer(text)), "any")).mode == "key"
            caller = await door.check(request(headers=bearer(issuer.token("k1"))), "operator")
            assert (caller.mode, caller.namespace) == ("token", "team-a")
            error = await refusal(door, need="admin", headers=bearer(issuer.token("k1")))
            assert error.code == "auth.forbidden"


async def test_a_token_is_a_bad_key_where_no_issuer_is_set_up(guard: OpenGuard):
    async with LittleIssuer() as issuer, guard() as door:
        issuer.add("k1", "ES256")
        assert (await refusal(door, headers=bearer(issuer.token("k1")))).code == "auth.bad_key"


# -- damping --------------------------------------------------------------------------------------------------------


async def test_wrong_keys_run_out_of_tries_and_good_ones_never_do(guard: OpenGuard, clock: HandClock):
    async with guard(wrong_keys=3) as door:
        _, good = await door.keys.create("ci", "viewer")
        wrong = good[:-4] + "AAAA"
        codes = [(await refusal(door, headers=bearer(wrong))).code for _ in range(4)]
        assert codes == ["auth.bad_key"] * 3 + ["auth.slow_down"]
        slow = await refusal(door, headers=bearer(wrong))
        assert slow.status == 429
        assert int(getattr(slow, "headers")["retry-after"]) >= 1  # noqa: B009
        await door.check(request(headers=bearer(good)), "any")
        assert (await refusal(door, headers=bearer(wrong), address="192.0.2.8")).code == "auth.bad_key"
        clock.forward(60)
        assert (await refusal(door, headers=bearer(wrong))).code == "auth.bad_key"


async def test_no_key_and_an_expired_key_are_no_guesses(guard: OpenGuard, clock: HandClock):
    async with guard(wrong_keys=1) as door:
        _, old = await door.keys.create("ci", "viewer", expires_in=1)
        clock.forward(1)
        for _ in range(5):
            assert (await refusal(door)).code == "auth.no_key"
            assert (await refusal(door, headers=bearer(old))).code == "auth.expired"


async def test_wrong_logins_are_damped_too(guard: OpenGuard):
    async with guard(wrong_keys=2) as door:
        codes: list[str] = []
        for _ in range(3):
            with pytest.raises(PlaitError) as refused:
                await door.login(request("POST"), "plait_no_key")
            codes.append(refused.value.code)
        assert codes == ["auth.bad_key", "auth.bad_key", "auth.slow_down"]
