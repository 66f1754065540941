"""`plait keys`: the first key, before there is a server; and keys beside one that runs."""

import asyncio
import re
from pathlib import Path

import pytest

from plait import Engine
from plait.api.key import Key
from plait.errors import PlaitError
from plait.server.auth import AuthOptions, KeyGuard
from tests.cli.support import Ran, run_plait

from .support import bearer, request


@pytest.fixture
def db(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/plait.db"


def plait(db: str, *args: str) -> Ran:
    return run_plait("keys", *args, "--db", db)


def verified(db: str, text: str) -> Key | str:
    """The key as a server sees it, or the code of its refusal."""

    async def ask() -> Key | str:
        async with Engine(db, work=False) as engine:
            guard = await KeyGuard.start(engine, AuthOptions())
            try:
                await guard.check(request(headers=bearer(text)), "any")
                return await guard.keys.verify(text)
            except PlaitError as error:
                return error.code

    return asyncio.run(ask())


def test_the_first_admin_key_is_made_before_there_is_a_database(db: str):
    ran = plait(db, "create", "root", "--role", "admin", "--namespace", "*")
    assert ran.code == 0
    text = ran.out.strip()
    assert re.fullmatch(r"plait_[0-9a-f]+_\S+", text)  # alone on stdout, for scripts
    assert "can't be shown again" in ran.err
    assert "created a new database" in ran.err
    key = verified(db, text)
    assert isinstance(key, Key)
    assert (key.name, key.role, key.namespace, key.expires_at) == ("root", "admin", "*", None)


def test_a_key_gives_as_little_as_possible_unless_told(db: str):
    made = plait(db, "create", "someone", "--json").json
    assert (made["role"], made["namespace"]) == ("viewer", "default")
    assert "created a new database" not in plait(db, "create", "another").err


def test_a_key_may_expire(db: str):
    made = plait(db, "create", "ci", "--days", "0.5", "--json").json
    assert made["expires_at"] - made["created_at"] == 12 * 3600 * 1000


def test_keys_are_listed_without_their_secrets(db: str):
    text = plait(db, "create", "ci", "--role", "operator", "--namespace", "team-a").out.strip()
    plait(db, "create", "other")
    listed = plait(db, "list", "--json")
    assert [key["name"] for key in listed.json] == ["other", "ci"]
    assert text.split("_", 2)[2] not in listed.out
    assert [key["name"] for key in plait(db, "list", "-n", "team-a", "--json").json] == ["ci"]
    for shown in (plait(db, "list").out, run_plait("keys", "--db", db).out):
        assert "operator" in shown
        assert "team-a" in shown
        assert "good" in shown
        assert "never" in shown


def test_a_revoked_key_is_good_for_nothing(db: str):
    made = plait(db, "create", "ci", "--json").json
    assert isinstance(verified(db, made["key"]), Key)
    assert plait(db, "revoke", made["id"]).code == 0
    assert verified(db, made["key"]) == "auth.bad_key"
    assert "revoked" in plait(db, "list").out
    assert plait(db, "list", "--json").json[0]["revoked_at"] > 0


def test_what_was_done_by_hand_is_in_the_audit_trail(db: str):
    made = plait(db, "create", "ci", "--json").json
    plait(db, "revoke", made["id"])

    async def trail() -> list[tuple[str, str | None, str]]:
        async with Engine(db, work=False) as engine:
            guard = await KeyGuard.start(engine, AuthOptions())
            return [(entry.action, entry.target, entry.credential) for entry in (await guard.audit.page()).entries]

    assert asyncio.run(trail()) == [("keys.revoke", made["id"], "cli"), ("keys.create", made["id"], "cli")]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("create", "x", "--role", "root"), "auth.bad_role"),
        (("create", ""), "auth.bad_key_name"),
        (("create", "x", "--namespace", "Not Good"), "kernel.bad_namespace"),
        (("create", "x", "--days", "0"), "auth.bad_expiry"),
        (("create", "x", "--days", "nan"), "auth.bad_expiry"),
        (("create",), "cli.usage"),
    ],
)
def test_a_key_that_makes_no_sense_is_refused(db: str, args: tuple[str, ...], code: str):
    ran = plait(db, *args, "--json")
    assert ran.code == 2
    assert ran.problem["code"] == code


def test_a_key_that_is_not_there_can_not_be_revoked(db: str):
    plait(db, "create", "x")
    ran = plait(db, "revoke", "0" * 18, "--json")
    assert (ran.code, ran.problem["code"]) == (2, "auth.no_such_key")


def test_listing_makes_no_database(db: str, tmp_path: Path):
    assert plait(db, "list", "--json").problem["code"] == "cli.no_database"
    assert list(tmp_path.iterdir()) == []
    assert plait("memory:", "create", "x", "--json").problem["code"] == "cli.memory_database"
    assert plait("http://127.0.0.1:8080", "create", "x", "--json").code == 2


def test_an_empty_list_says_so(db: str):
    made = plait(db, "create", "x", "--json").json
    assert plait(db, "list", "-n", "team-z").out.strip() == "no keys"
    assert made["name"] == "x"


def test_a_key_has_the_quotas_that_it_was_made_with(db: str):
    made = plait(db, "create", "ci", "--role", "operator", "--start-rate", "5", "--max-running", "9", "--json").json
    assert (made["start_rate"], made["max_running"]) == (5, 9)
    told = plait(db, "create", "other", "--start-rate", "5", "--max-running", "9")
    assert "5 starts a second, 9 runs at once" in told.err
    assert plait(db, "create", "bad", "--max-running", "0", "--json").problem["code"] == "auth.bad_quota"
