"""Tokens of an OIDC issuer: a real one on loopback, with real keys, and attackers."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from plait.errors import InvalidInput, PlaitError
from plait.server.auth.issuer import PAUSE, RENEW, STALE, Issuer
from plait.server.auth.options import Oidc
from plait.server.auth.tokens import Tokens
from tests.engine.places import until

from .issuer import AUDIENCE, LittleIssuer, new_key, sealed_by_hand
from .support import HandClock


@asynccontextmanager
async def door(clock: HandClock, *kids: str, algorithm: str = "ES256") -> AsyncGenerator[tuple[LittleIssuer, Tokens]]:
    """An issuer with keys of these names, and who checks its tokens."""
    async with LittleIssuer() as issuer:
        for kid in kids:
            issuer.add(kid, algorithm)
        tokens = Tokens(Oidc(issuer.url, AUDIENCE), clock)
        try:
            yield issuer, tokens
        finally:
            await tokens.close()


async def refused(tokens: Tokens, text: str) -> str:
    with pytest.raises(PlaitError) as error:
        await tokens.verify(text)
    return error.value.code


def tampered(token: str, part: int, **changes: Any) -> str:
    """The token with other claims (or another header) under the old signature."""
    import base64

    parts = token.split(".")
    document = json.loads(base64.urlsafe_b64decode(parts[part] + "=="))
    parts[part] = base64.urlsafe_b64encode(json.dumps(document | changes).encode()).decode().rstrip("=")
    return ".".join(parts)


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
async def test_a_token_of_the_issuer_lets_its_holder_in(clock: HandClock, algorithm: str):
    async with door(clock, "k1", algorithm=algorithm) as (issuer, tokens):
        caller = await tokens.verify(issuer.token("k1", email="ann@example.com"), "192.0.2.9")
    assert (caller.name, caller.role, caller.namespace) == ("ann@example.com", "operator", "team-a")
    assert (caller.mode, caller.id, caller.address) == ("token", "token:u-1", "192.0.2.9")


async def test_the_audience_may_be_one_of_several_and_the_namespace_all(clock: HandClock):
    async with door(clock, "k1") as (issuer, tokens):
        text = issuer.token("k1", aud=["other", AUDIENCE], plait_namespace="*", plait_role="admin")
        caller = await tokens.verify(text)
    assert (caller.role, caller.namespace, caller.name) == ("admin", "*", "u-1")


@pytest.mark.parametrize(("claim", "served"), [({}, ["gpu", "cpu", "tpu"]), ({"plait_queues": ["gpu"]}, ["gpu"])])
async def test_a_claim_limits_a_worker_to_its_queues(clock: HandClock, claim: dict[str, Any], served: list[str]):
    async with door(clock, "k1") as (issuer, tokens):
        caller = await tokens.verify(issuer.token("k1", plait_role="worker", **claim))
    assert [queue for queue in ("gpu", "cpu", "tpu") if caller.may_serve(queue)] == served


async def test_queues_may_be_written_as_scopes_are(clock: HandClock):
    async with door(clock, "k1") as (issuer, tokens):
        caller = await tokens.verify(issuer.token("k1", plait_role="worker", plait_queues="gpu tpu"))
    assert caller.queues == ("gpu", "tpu")


NOW = int(time.time())


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ({"exp": NOW - 120}, "auth.expired"),
        ({"exp": None}, "auth.bad_key"),
        ({"exp": "soon"}, "auth.bad_key"),
        ({"nbf": NOW + 3600}, "auth.bad_key"),
        ({"iat": NOW + 3600}, "auth.bad_key"),
        ({"iat": None}, "auth.bad_key"),
        ({"iss": "https://evil.example"}, "auth.bad_key"),
        ({"iss": None}, "auth.bad_key"),
        ({"aud": "another-service"}, "auth.bad_key"),
        ({"aud": None}, "auth.bad_key"),
        ({"aud": []}, "auth.bad_key"),
        ({"sub": None}, "auth.bad_key"),
        ({"sub": 7}, "auth.bad_key"),
        ({"plait_role": None}, "auth.forbidden"),
        ({"plait_role": "root"}, "auth.forbidden"),
        ({"plait_role": ["admin"]}, "auth.forbidden"),
        ({"plait_namespace": None}, "auth.forbidden"),
        ({"plait_namespace": ""}, "auth.forbidden"),
        ({"plait_namespace": "Bad Name"}, "auth.forbidden"),
        ({"plait_namespace": ["*"]}, "auth.forbidden"),
        ({"plait_queues": ""}, "auth.forbidden"),
        ({"plait_queues": []}, "auth.forbidden"),
        ({"plait_queues": ["gpu", 7]}, "auth.forbidden"),
        ({"plait_queues": {"gpu": True}}, "auth.forbidden"),
        ({"plait_queues": "gpu *"}, "auth.forbidden"),
    ],
)
async def test_a_signed_token_with_wrong_claims_is_refused(clock: HandClock, claims: dict[str, Any], code: str):
    async with door(clock, "k1") as (issuer, tokens):
        if "sub" in claims or "iss" in claims or "exp" in claims:  # the library that signs would refuse some of these
            from jwt.api_jws import encode

            algorithm, private = issuer.private["k1"]
            text = encode(json.dumps(issuer.claims(**claims)).encode(), private, algorithm, headers={"kid": "k1"})
        else:
            text = issuer.token("k1", **claims)
        assert await refused(tokens, text) == code


async def test_clocks_may_differ_by_a_few_seconds(clock: HandClock):
    now = int(time.time())
    async with door(clock, "k1") as (issuer, tokens):
        await tokens.verify(issuer.token("k1", exp=now - 5, iat=now + 5, nbf=now + 5))


async def test_a_token_without_signature_is_refused(clock: HandClock):
    async with door(clock, "k1") as (issuer, tokens):
        for algorithm in ("none", "None", "NONE", ""):
            text = sealed_by_hand({"alg": algorithm, "kid": "k1"}, issuer.claims(), None)
            assert await refused(tokens, text) == "auth.bad_key"
        assert issuer.asked == []  # it was not even looked for a key
        assert await refused(tokens, issuer.token("k1").rpartition(".")[0] + ".") == "auth.bad_key"


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
async def test_a_public_key_is_no_secret_to_sign_with(clock: HandClock, algorithm: str):
    """The classic confusion: HMAC with the public key, which everybody has."""
    async with door(clock, "k1", algorithm=algorithm) as (issuer, tokens):
        secrets = [issuer.public_pem("k1"), json.dumps(issuer.listed["k1"]).encode(), b""]
        for alg in ("HS256", "HS512", algorithm):
            for secret in secrets:
                text = sealed_by_hand({"alg": alg, "kid": "k1"}, issuer.claims(plait_role="admin"), secret)
                assert await refused(tokens, text) == "auth.bad_key"


async def test_a_token_signed_by_another_key_of_the_same_name_is_refused(clock: HandClock):
    async with door(clock, "k1") as (issuer, tokens):
        assert await refused(tokens, issuer.token("k1", key=new_key("ES256"))) == "auth.bad_key"


async def test_a_key_that_comes_with_the_token_is_not_believed(clock: HandClock):
    async with door(clock, "k1") as (issuer, tokens), LittleIssuer() as evil:
        evil.add("k1", "ES256")
        own = {"jwk": evil.listed["k1"], "jku": f"{evil.url}/keys", "x5u": f"{evil.url}/keys"}
        text = evil.token("k1", headers=own, iss=issuer.url)
        assert await refused(tokens, text) == "auth.bad_key"
        assert evil.asked == []


async def test_claims_changed_after_signing_are_refused(clock: HandClock):
    async with door(clock, "k1") as (issuer, tokens):
        good = issuer.token("k1", plait_role="viewer")
        assert await refused(tokens, tampered(good, 1, plait_role="admin")) == "auth.bad_key"
        assert await refused(tokens, tampered(good, 0, typ="other")) == "auth.bad_key"


async def test_a_token_with_any_bit_flipped_is_refused(clock: HandClock):
    async with door(clock, "k1") as (issuer, tokens):
        text = issuer.token("k1")
        await tokens.verify(text)
        for at in range(len(text)):
            if at % 7 == 0 or at > len(text) - 4:  # all of them would take a while
                for bit in range(8):
                    flipped = text[:at] + chr(ord(text[at]) ^ (1 << bit)) + text[at + 1 :]
                    with pytest.raises(PlaitError) as error:
                        await tokens.verify(flipped)
                    assert error.value.status in (401, 503)
        assert await refused(tokens, text + "!") == "auth.bad_key"
        assert await refused(tokens, text + "=") == "auth.bad_key"


async def test_rules_that_nobody_knows_are_refused(clock: HandClock):
    async with door(clock, "k1") as (issuer, tokens):
        text = issuer.token("k1", headers={"crit": ["b64"], "b64": True})
        assert await refused(tokens, text) == "auth.bad_key"


async def test_a_token_that_names_the_key_of_another_algorithm_is_refused(clock: HandClock):
    async with door(clock, "ec") as (issuer, tokens):
        issuer.add("rsa", "RS256")
        _, private = issuer.private["rsa"]
        import jwt

        text = jwt.encode(issuer.claims(), private, "RS256", headers={"kid": "ec"})
        assert await refused(tokens, text) == "auth.bad_key"
        with pytest.raises(PlaitError) as error:  # without the help of the library that reads tokens
            await tokens._issuer.key("ec", "RS256")
        assert error.value.code == "auth.bad_key"


@pytest.mark.parametrize(
    "text",
    [
        "eyJ",
        "eyJ.eyJ.eyJ",
        "eyJhbGciOiJSUzI1NiJ9",
        "eyJhbGciOiJSUzI1NiJ9..",
        "eyJ" + "A" * 20_000,
        "eyJ\xff.é.é",
        ".....",
    ],
)
async def test_noise_is_refused_without_asking_the_issuer(clock: HandClock, text: str):
    async with door(clock, "k1") as (issuer, tokens):
        assert await refused(tokens, text) == "auth.bad_key"
        assert len(issuer.asked) <= 2


async def test_a_weak_or_foreign_key_in_the_set_is_passed_over(clock: HandClock):
    async with door(clock, "good") as (issuer, tokens):
        issuer.add("short", "RS256", bits=1024)
        issuer.add("encryption", "ES256", use="enc")
        issuer.add("other-alg", "RS256", alg="RS512")
        issuer.listed["oct"] = {"kty": "oct", "kid": "oct", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", "alg": "HS256"}
        issuer.listed["broken"] = {"kty": "RSA", "kid": "broken"}
        issuer.listed["no-object"] = "x"  # type: ignore[assignment]
        await tokens.verify(issuer.token("good"))
        assert await refused(tokens, issuer.token("encryption")) == "auth.bad_key"
        for kid in ("short", "other-alg"):
            text = sealed_by_hand({"alg": "RS256", "kid": kid}, issuer.claims(), b"x")
            assert await refused(tokens, text) == "auth.bad_key"
        text = sealed_by_hand({"alg": "HS256", "kid": "oct"}, issuer.claims(), b"secretsecretsecretsecret")
        assert await refused(tokens, text) == "auth.bad_key"


# -- the issuer's keys --------------------------------------------------------------------------------------------


async def test_keys_are_fetched_once_for_many_tokens(clock: HandClock):
    async with door(clock, "k1") as (issuer, tokens):
        await asyncio.gather(*(tokens.verify(issuer.token("k1")) for _ in range(30)))
        assert len(issuer.asked) == 2  # discovery, and the key set


async def test_a_new_key_is_found_when_its_first_token_comes(clock: HandClock):
    async with door(clock, "old") as (issuer, tokens):
        await tokens.verify(issuer.token("old"))
        issuer.add("new", "EdDSA")
        clock.forward(PAUSE)
        assert (await tokens.verify(issuer.token("new"))).role == "operator"


async def test_a_key_the_issuer_took_back_is_refused_after_the_next_look(clock: HandClock):
    async with door(clock, "leaked", "good") as (issuer, tokens):
        text = issuer.token("leaked")
        await tokens.verify(text)
        del issuer.listed["leaked"]
        clock.forward(RENEW + 1)
        before = len(issuer.asked)
        await tokens.verify(issuer.token("good"))  # does not wait for the look that it causes
        await until(lambda: len(issuer.asked) == before + 2)
        await until(lambda: "leaked" not in tokens._issuer._keys)
        assert await refused(tokens, text) == "auth.bad_key"


async def test_a_flood_of_unknown_keys_asks_the_issuer_once(clock: HandClock):
    async with door(clock, "k1") as (issuer, tokens):
        await tokens.verify(issuer.token("k1"))
        clock.forward(PAUSE)
        issuer.asked.clear()
        for number in range(50):
            text = sealed_by_hand({"alg": "ES256", "kid": f"x{number}"}, issuer.claims(), b"x")
            assert await refused(tokens, text) == "auth.bad_key"
        assert len(issuer.asked) == 2


async def test_while_the_issuer_is_away_known_keys_go_on_and_unknown_ones_get_503(clock: HandClock):
    async with door(clock, "k1") as (issuer, tokens):
        await tokens.verify(issuer.token("k1"))
        issuer.add("k2", "ES256")
        await issuer.go_away()
        clock.forward(RENEW + 1)
        assert (await tokens.verify(issuer.token("k1"))).name == "u-1"
        with pytest.raises(PlaitError) as away:
            await tokens.verify(issuer.token("k2"))
        assert (away.value.status, away.value.code) == (503, "auth.issuer_away")
        assert "retry-after" in getattr(away.value, "headers", {})
        await issuer.come_back()
        clock.forward(PAUSE)
        assert (await tokens.verify(issuer.token("k2"))).name == "u-1"


async def test_keys_of_an_issuer_that_stays_away_end_after_a_day(clock: HandClock):
    async with door(clock, "k1") as (issuer, tokens):
        await tokens.verify(issuer.token("k1"))
        await issuer.go_away()
        clock.forward(STALE + 1)
        assert await refused(tokens, issuer.token("k1")) == "auth.issuer_away"


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        ("/.well-known/openid-configuration", 500, b"oops"),
        ("/.well-known/openid-configuration", 200, b"<html>"),
        ("/.well-known/openid-configuration", 200, b"[]"),
        (
            "/.well-known/openid-configuration",
            200,
            b'{"issuer": "https://evil.example", "jwks_uri": "https://evil.example"}',
        ),
        ("/.well-known/openid-configuration", 302, b""),
        ("/keys", 404, b"{}"),
        ("/keys", 200, b'{"keys": 7}'),
        ("/keys", 200, b'{"keys": [' + b" " * 1_000_001 + b"]}"),
        ("/keys", 200, b'{"keys": [' + b"[" * 5_000 + b"]" * 5_000 + b"]}"),
    ],
)
async def test_an_issuer_that_answers_nonsense_counts_as_away(clock: HandClock, path: str, status: int, body: bytes):
    async with door(clock, "k1") as (issuer, tokens):
        issuer.answers[path] = (status, body)
        assert await refused(tokens, issuer.token("k1")) == "auth.issuer_away"


async def test_an_issuer_that_calls_itself_otherwise_is_not_believed(clock: HandClock):
    async with door(clock, "k1") as (issuer, tokens):
        document = json.dumps({"issuer": "https://evil.example", "jwks_uri": f"{issuer.url}/keys"}).encode()
        issuer.answers["/.well-known/openid-configuration"] = (200, document)
        assert await refused(tokens, issuer.token("k1")) == "auth.issuer_away"


@pytest.mark.parametrize(
    "where", ["http://0.0.0.0:{port}/keys", "file:///etc/passwd", "ftp://127.0.0.1/keys", "", "https://"]
)
async def test_a_key_set_at_an_unsafe_address_is_not_fetched(clock: HandClock, where: str):
    async with door(clock, "k1") as (issuer, tokens):
        address = where.format(port=issuer.url.rpartition(":")[2])  # 0.0.0.0 reaches it, and is not loopback
        document = json.dumps({"issuer": issuer.url, "jwks_uri": address}).encode()
        issuer.answers["/.well-known/openid-configuration"] = (200, document)
        assert await refused(tokens, issuer.token("k1")) == "auth.issuer_away"
        assert "/keys" not in issuer.asked


async def test_an_issuer_that_hangs_is_given_up(clock: HandClock, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("plait.server.auth.issuer.TIMEOUT", 0.05)
    async with door(clock, "k1") as (issuer, tokens):
        issuer.hang = True
        assert await refused(tokens, issuer.token("k1")) == "auth.issuer_away"


async def test_closing_does_not_wait_for_an_issuer_that_hangs(clock: HandClock):
    async with door(clock, "k1") as (issuer, tokens):
        issuer.hang = True
        asking = asyncio.create_task(tokens.verify(issuer.token("k1")))
        await until(lambda: bool(issuer.asked))
        await tokens.close()
        with pytest.raises((asyncio.CancelledError, PlaitError)):
            await asking


# -- setting it up ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("url", ["http://issuer.example", "issuer.example", "", "ftp://issuer.example", "https://"])
def test_an_issuer_without_tls_elsewhere_is_refused(clock: HandClock, url: str):
    with pytest.raises(InvalidInput) as error:
        Issuer(url, clock)
    assert error.value.code == "auth.bad_issuer"


@pytest.mark.parametrize("algorithms", [("HS256",), ("none",), ("RS256", "HS256"), ()])
def test_algorithms_with_shared_secrets_cannot_be_switched_on(clock: HandClock, algorithms: tuple[str, ...]):
    with pytest.raises(InvalidInput) as error:
        Issuer("https://issuer.example", clock, algorithms)
    assert error.value.code == "auth.bad_algorithm"


def test_an_audience_must_be_set(clock: HandClock):
    with pytest.raises(InvalidInput) as error:
        Tokens(Oidc("https://issuer.example", ""), clock)
    assert error.value.code == "auth.no_audience"


async def test_an_algorithm_that_was_switched_off_is_refused(clock: HandClock):
    async with LittleIssuer() as issuer:
        issuer.add("k1", "ES256")
        tokens = Tokens(Oidc(issuer.url, AUDIENCE, ("RS256",)), clock)
        assert await refused(tokens, issuer.token("k1")) == "auth.bad_key"
        await tokens.close()
