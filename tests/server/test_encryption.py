"""Erasure and personal values over HTTP: who may do and see what."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from plait import Context, workflow
from plait.client import Client
from plait.codec.key_ring import LocalKeyRing, new_master_key
from plait.errors import Erased
from plait.server.auth import AuthOptions
from plait.server.pii import HIDDEN, hide
from plait.server.site import Settings
from tests.server.serving import Served, problem, serving

MARKER = "anna@example.org"
SUBJECT = "customer:42"


@workflow
async def mirror(ctx: Context, input: Any) -> Any:
    if isinstance(input, dict) and "email" in input:
        assert "@" in input["email"]  # the code sees the value itself
    return {"got": input}


@asynccontextmanager
async def sealed() -> AsyncGenerator[Served]:
    ring = LocalKeyRing.parse(new_master_key(), "the test")
    guarded = {"settings": Settings(open=False), "options": AuthOptions(wrong_keys=1_000)}
    async with serving(definitions=(mirror,), encryption=ring, **guarded) as served:
        yield served


async def key(served: Served, role: str, **options: Any) -> str:
    return (await served.site.auth.keys.create(f"a {role}", role, "default", **options))[1]


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


# -- erasure -----------------------------------------------------------------------------------------------------------


async def test_an_administrator_erases_a_subject_and_the_audit_trail_says_so():
    async with sealed() as served:
        admin, viewer = bearer(await key(served, "admin")), bearer(await key(served, "viewer"))
        body = {"definition": "mirror", "input": MARKER, "id": "r-1", "subject": SUBJECT}
        assert (await served.post("/runs", body, headers=admin)).status_code == 201
        await (await served.engine.get("r-1")).result()
        assert (await served.post("/erasures", {"subject": SUBJECT}, headers=viewer)).status_code == 403
        receipt = (await served.post("/erasures", {"subject": SUBJECT}, headers=admin)).json()
        assert (receipt["by"], receipt["run_ids"]) == ("a admin", ["r-1"])
        assert (await served.post("/erasures", {"subject": SUBJECT}, headers=admin)).json() == receipt
        assert (await served.get("/erasures", headers=admin)).json() == {"receipts": [receipt]}
        shown = await served.get("/runs/r-1", headers=viewer)
        assert shown.status_code == 200
        assert shown.json()["run"]["erased_at"] == receipt["at"]
        assert MARKER not in shown.text
        [listed] = (await served.get("/runs", headers=viewer)).json()["runs"]
        assert listed["erased_at"] == receipt["at"]
        live = viewer | {"Accept": "text/event-stream"}
        problem(await served.get("/runs/r-1/events", headers=live), 410, "codec.erased")
        for path in ("/runs/r-1/events", "/runs/r-1/timeline"):
            problem(await served.get(path, headers=viewer), 410, "codec.erased")
        problem(await served.post("/runs/r-1/fork", {}, headers=admin), 410, "codec.erased")
        audit = (await served.get("/audit", headers=admin)).json()["entries"]
        done = [(entry.get("target"), entry["outcome"]) for entry in audit if entry["action"] == "erasures.create"]
        assert (receipt["id"], "ok") in done
        assert (None, "refused") in done


async def test_a_client_starts_for_a_subject_erases_it_and_still_finds_the_run():
    async with sealed() as served, Client(served.process.url, await key(served, "admin")) as client:
        run = await client.start("mirror", MARKER, subject=SUBJECT)
        await run.result()
        receipt = await client.erase(SUBJECT)
        assert receipt.run_ids == [run.id]
        again = await client.get(run.id)
        assert (await again.row()).erased_at == receipt.at
        for ask in (again.events, again.result):
            try:
                await ask()
            except Erased:
                continue
            raise AssertionError("it can be read")


# -- personal values ---------------------------------------------------------------------------------------------------


def test_fields_are_hidden_at_any_depth_and_the_original_stays():
    value = {"email": MARKER, "deep": [{"email": {"work": MARKER}, "sku": "tea"}], "none": {"email": None}}
    assert hide(value, {"email"}) == {
        "email": HIDDEN,
        "deep": [{"email": HIDDEN, "sku": "tea"}],
        "none": {"email": None},
    }
    assert value["email"] == MARKER


async def test_personal_fields_are_shown_to_those_with_the_right_only():
    async with sealed() as served:
        run = await served.engine.start(mirror, {"email": MARKER, "sku": "tea"}, id="r-1", pii_fields=["email"])
        assert await run.result() == {"got": {"email": MARKER, "sku": "tea"}}
        for role, options, sees in (("viewer", {}, False), ("viewer", {"pii": True}, True), ("admin", {}, True)):
            headers = bearer(await key(served, role, **options))
            for path in ("/runs/r-1", "/runs/r-1/events"):
                text = (await served.get(path, headers=headers)).text
                assert (MARKER in text) is sees, (role, path)
                assert "tea" in text
            stream = await served.get("/runs/r-1/events", headers=headers | {"Accept": "text/event-stream"})
            assert (MARKER in stream.text) is sees
            assert ("[hidden" in stream.text) is not sees


async def test_a_run_with_personal_fields_has_a_key_of_its_own_that_can_be_destroyed():
    async with sealed() as served:
        run = await served.engine.start(mirror, {"email": MARKER}, id="r-1", pii_fields=["email"])
        await run.result()
        assert (await run.row()).labels == {"subject": "run:r-1"}
        assert (await served.engine.erase("run:r-1")).run_ids == ["r-1"]


async def test_a_key_says_whether_it_may_see_personal_values():
    async with sealed() as served:
        admin = bearer(await key(served, "admin"))
        made = await served.post("/keys", {"name": "support", "role": "viewer", "pii": True}, headers=admin)
        assert made.json()["pii"] is True
