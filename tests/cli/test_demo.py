"""The demo, faster than people see it, with its real engine process and its real SIGKILL."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from plait import Engine, Handle, goals
from plait.cli.demo import stage
from plait.cli.demo.stage import LiveStage, Scene
from plait.cli.output import console
from plait.demo import leads, newsletter, returns, seed, shop, steps
from plait.errors import RunFailed
from plait.kernel.view import RunView
from tests.cli.support import Desk, run_plait
from tests.server.serving import soon

DEMO = (shop, steps, returns, newsletter, leads)


@pytest.fixture(autouse=True)
def _own_temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_the_demo_ends_with_every_run_where_it_should_be():
    ran = run_plait("demo", "--json", "--pace", "0.2")
    assert ran.code == 0
    found = ran.json
    assert {run["id"]: run["status"] for run in found["runs"]} == {
        "order-1": "completed",
        "order-2": "failed",
        "expense-1": "completed",
        "reminder-1": "completed",
    }
    assert set(found["repeated"]) <= {"items/~1/ship", "items/~2/ship"}  # what the crash cut off, and no more
    runs = run_plait("runs", "--db", found["db"], "--json").json
    assert len(runs) == 4


def test_without_a_terminal_it_tells_the_story_in_lines(desk: Desk):
    ran = run_plait("demo", "--pace", "0.2")
    assert ran.code == 0
    for part in ("kill -9 ", "A new engine", "order-2: failed", "Try next:", "export PLAIT_DB=sqlite:///"):
        assert part in ran.out
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.partition("Try next:")[2].splitlines()[2:])) <= 80


def test_what_it_says_to_try_next_works(desk: Desk):
    db = run_plait("demo", "--json", "--pace", "0.2").json["db"]
    flow = "plait.demo.workflows:order"
    assert "undo" not in run_plait("why", "order-2", "--db", db).out
    assert run_plait("fork", "order-1", "--at", "charge", "--id", "o-4", "--db", db).code == 0
    ran = run_plait("run", flow, "--id", "o-4", "--db", db)
    assert json.loads(ran.out) == ["tea is on its way", "pot is on its way", "cup is on its way"]


def test_on_a_terminal_there_is_a_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    shown = stage.stage()
    assert isinstance(shown, LiveStage)
    view = RunView(
        run_id="order-1", namespace="default", dialect="code", definition="order", status="running", nodes=[], edges=[]
    )
    shown.tell("It begins.")
    shown.show(Scene([(view, [])], "engine: process 7"))
    shown.close()
    out = capsys.readouterr().out
    assert "order-1" in out
    assert "It begins." in out
    assert console().is_terminal


# -- the catalog of `plait dev` ----------------------------------------------------------------------------------------


async def test_the_tea_shop_has_goals_that_are_reached_that_fail_and_that_wait():
    async with Engine("memory:", definitions=(shop, steps)) as engine:
        await seed.seed(engine)
        ada = await engine.get("tea-for-ada")
        assert "thank you! paid 41.00; 2 parcels, by bike, this evening: To Ada" in (await ada.result())["letter"]
        mallory = await engine.get("tea-for-mallory")
        with pytest.raises(RunFailed, match="Take the payment failed: the card was declined"):
            await mallory.result()
        assert "rollback.step" in {event.type for event in await mallory.events()}
        alan = await engine.get("tea-for-alan")
        assert await _asked(engine, alan)
        assert [(node.id, node.status) for node in (await alan.view()).nodes if node.id == "ask-manager"] == [
            ("ask-manager", "waiting")
        ]


async def test_a_dear_order_of_the_tea_shop_goes_on_when_the_manager_agrees():
    async with Engine("memory:", definitions=(shop, steps)) as engine:
        await seed.seed(engine)
        alan = await engine.get("tea-for-alan")
        await engine.approvals.decide(await _asked(engine, alan), "approve", by="Grace")
        assert "paid 193.50, approved by Grace" in (await alan.result())["letter"]


async def _asked(engine: Engine, run: Handle[Any]) -> str:
    """The approval that a child of the run asks, once it does."""

    async def approval() -> str | None:
        found = [each.id for each in await engine.approvals.list() if each.run_id.startswith(f"{run.id}:")]
        return found[0] if found else None

    return await soon(approval)


async def test_seeding_again_adds_nothing():
    async with Engine("memory:", definitions=DEMO, models=leads.models()) as engine:
        await seed.seed(engine)
        before = engine.catalog.sequence
        await seed.seed(engine)
        assert engine.catalog.sequence == before
        assert len([row for row in await engine.runs() if row.parent is None]) == 16


async def test_goods_that_come_back_are_paid_back_and_a_reader_who_can_not_be_reached_stops_nobody():
    async with Engine("memory:", definitions=DEMO, models=leads.models()) as engine:
        await seed.seed(engine)
        letter = await (await engine.get("back-from-grace")).result()
        assert letter == {"write_letter": {"letter": "Dear Grace, 39.00 are on their way."}}
        sent = await (await engine.get("newsletter-winter")).result()
        assert [item for item in sent if isinstance(item, str)] == [
            "sent to ada@example.org",
            "sent to grace@example.org",
        ]


async def test_the_catalog_of_the_tea_shop_has_a_step_of_every_kind():
    async with Engine("memory:", definitions=(shop, steps)) as engine:
        assert {step.type for step in await engine.catalog.list()} == {"python", "script", "flow", "run", "async"}
        assert (await engine.catalog.attributes())["quote"].providers == ["quote-bike", "quote-post"]
        plan = await engine.plan(goals("thank-customer"), {"customer": "Ada"})
        assert plan.body["required"] == ["items"]


async def test_the_agent_of_the_tea_shop_works_without_a_key_and_asks_a_person():
    async with Engine("memory:", definitions=DEMO, models=leads.models()) as engine:
        run = await engine.start(leads.qualify_customer, leads.CUSTOMER, id="qualify-ada")

        async def asked() -> str | None:
            return next((each.id for each in await engine.approvals.list() if each.run_id == run.id), None)

        await engine.approvals.decide(await soon(asked), "approve", by="manager")
        assert await run.result() == {"sales": {"call": "Ada"}}
