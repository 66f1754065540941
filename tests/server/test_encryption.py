"""Erasure and personal values over HTTP: who may do and see what."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from plait import Context, Retry, step_log, workflow
from plait.client import Client
from plait.codec.key_ring import LocalKeyRing, new_master_key
from plait.errors import Erased, RunFailed
from plait.server.auth import AuthOptions
from plait.server.pii import HIDDEN, hide
from plait.server.site import Argyll, Settings
from tests.server.argyll.stage import over, register, script, start
from tests.server.serving import Served, problem, serving, soon

MARKER = "anna@example.org"
SUBJECT = "customer:42"


@workflow
async def mirror(ctx: Context, input: Any) -> Any:
    if isinstance(input, dict) and "email" in input:
        assert "@" in input["email"]  # the code sees the value itself
    return {"got": input}


@asynccontextmanager
async def sealed(definitions: tuple[object, ...] = (mirror,), argyll: Argyll = "off") -> AsyncGenerator[Served]:
    ring = LocalKeyRing.parse(new_master_key(), "the test")
    guarded = {"settings": Settings(open=False, argyll=argyll), "options": AuthOptions(wrong_keys=1_000)}
    async with serving(definitions=definitions, encryption=ring, **guarded) as served:
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


@pytest.mark.parametrize(
    "said",
    [
        "email=anna@example.com,",
        'got {"email": "anna@example.com"} from the shop',
        "{'email': 'anna@example.com', 'sku': 'tea'}",
        "email: anna@example.com",
    ],
)
def test_a_text_that_names_a_field_does_not_show_its_value(said: str):
    [line] = hide([{"text": f"{said} tea"}], {"email"})
    assert "anna" not in line["text"]
    assert "tea" in line["text"]


def test_other_fields_are_no_texts_and_stay():
    value = {"email": "order-7", "id": "order-7", "message": "order-7 failed", "my_email_x": "email=7"}
    assert hide(value, {"email"}) == value | {"email": HIDDEN, "message": f"{HIDDEN} failed"}


async def say_it(order: dict[str, str]) -> None:
    step_log(f"writing to {order['email']}")
    step_log(f"the order is {order}")
    raise ValueError(f"no such person: {order['email']}")


@workflow
async def loud(ctx: Context, order: dict[str, str]) -> None:
    await ctx.step("say", say_it, order, retry=Retry(max_attempts=1))


async def test_log_lines_and_errors_do_not_repeat_personal_values():
    order = {"email": MARKER, "sku": "tea"}
    async with sealed(definitions=(loud,)) as served:
        run = await served.engine.start(loud, order, id="r-1", pii_fields=["email"])
        with suppress(RunFailed):
            await run.result()
        admin, viewer = bearer(await key(served, "admin")), bearer(await key(served, "viewer"))

        async def lines() -> bool:
            return len((await served.get("/runs/r-1/logs", headers=admin)).json()["lines"]) == 2

        await soon(lines)
        for path in ("/runs/r-1", "/runs/r-1/events", "/runs/r-1/logs"):
            assert MARKER in (await served.get(path, headers=admin)).text
            assert MARKER not in (await served.get(path, headers=viewer)).text, path
        shown = (await served.get("/runs/r-1/logs", headers=viewer)).json()["lines"]
        assert [line["text"] for line in shown] == [
            f"writing to {HIDDEN}",
            f"the order is {{'email': {HIDDEN}, 'sku': 'tea'}}",
        ]


async def test_clients_of_the_mount_see_no_personal_values():
    async with sealed(argyll="local") as served:
        await served.engine.pii_fields.register("default", ["email"])
        await register(served, script("greet", ["email"], ["greeting"], '{:greeting (str "Hello, " email)}'))
        await start(served, "r-1", "greet", init={"email": [MARKER]})
        found = await over(served, "r-1")
        assert found["attributes"]["email"] == HIDDEN
        assert MARKER not in (await served.client.get("/engine/flow/r-1")).text.replace(f"Hello, {MARKER}", "")


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
