"""The examples, run as their README says."""

import asyncio
import contextlib
from pathlib import Path

import pytest

from plait import Engine
from plait.cli.loading import load_module
from plait.errors import RunFailed
from tests.cli.support import ROOT, Desk, environment, read_until
from tests.support.processes import run

EXAMPLE = "examples/order/code.py:order"
GOAL = "examples/order/goals.py:send_receipt"
TEA = "@examples/order/goals.json"


@pytest.fixture
def shop(desk: Desk) -> Desk:
    """A desk from which the examples are seen."""
    (desk.folder / "examples").symlink_to(ROOT / "examples")
    return desk


def test_an_order_is_asked_about_paid_and_shipped(shop: Desk):
    with shop.spawn("run", EXAMPLE, "--id", "o-1", "--input", "@examples/order/tea.json") as process:
        read_until(process.stderr, "◌ decision / answer / answer")
        assert shop.plait("message", "o-1", "yes").code == 0
        out, err = process.communicate()
    assert process.returncode == 0, err
    assert '"parcels":["parcel:o-1:tea","parcel:o-1:pot"]' in out
    assert "↻ charge" in err


def test_a_refused_order_is_undone(shop: Desk):
    with shop.spawn("run", EXAMPLE, "--id", "o-1", "--input", "@examples/order/tea.json") as process:
        read_until(process.stderr, "◌ decision / answer / answer")
        shop.plait("message", "o-1", "no")
        out, err = process.communicate()
    assert (process.returncode, out) == (1, "  released hold:o-1\n")
    assert "run o-1 failed: not approved" in err


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"items": [{"sku": "unicorn", "price": 1}]}, "the warehouse has no unicorn"),
        ({"items": [{"sku": "palace", "price": 10_000_000}]}, "the risk is too high"),
        ({"answer_within": 0.01}, "not approved"),
    ],
)
def test_an_order_that_can_not_be_fails_with_its_reason(shop: Desk, change: dict[str, object], why: str):
    async def run() -> None:
        order = {"customer": "Ada", "items": [{"sku": "tea", "price": 450}]} | change
        with contextlib.chdir(shop.folder):
            module = load_module("examples/order/code.py")
        async with Engine("memory:", definitions=[module]) as engine:
            handle = await engine.start("order", order)
            with pytest.raises(RunFailed, match=why):
                await handle.result()

    asyncio.run(run())


def test_the_example_is_free_of_warnings(shop: Desk):
    ran = shop.plait("check", "examples/order/code.py", "--lint-only")
    assert (ran.code, ran.out) == (0, "0 warnings\n")


def test_the_example_runs_by_itself(tmp_path: Path):
    ran = run("examples.order.code", cwd=tmp_path, env=environment())
    assert ran.returncode == 0, ran.stderr
    assert "Receipt(customer='Ada'" in ran.stdout


def test_the_example_with_an_agent_runs_by_itself(tmp_path: Path):
    ran = run("examples.order.agent", cwd=tmp_path, env=environment())
    assert ran.returncode == 0, ran.stderr
    assert "a card, with thanks" in ran.stdout


# -- as goals ----------------------------------------------------------------------------------------------------------


def test_an_order_as_goals_is_paid_shipped_and_told(shop: Desk):
    ran = shop.plait("run", GOAL, "--id", "g-1", "--input", TEA)
    assert ran.code == 0, ran.err
    assert ran.out == '{"receipt":"Dear Ada: pay:Ada:4053, parcel:tea, parcel:pot, and a tin of biscuits"}\n'
    assert "charge  python  3 attempts" in ran.err
    shown = shop.plait("show", "g-1").out
    assert 'hold        reserve       "hold:g-1"' in shown


def test_the_catalog_of_the_example_answers_other_questions(shop: Desk):
    shop.plait("run", GOAL, "--input", TEA)
    assert shop.plait("run", "goals:total", "--input", TEA).out == '{"total":4053}\n'
    assert "items  needed by goods, reserve, ship" in shop.plait("plan", "send-receipt", "--input", "customer=Ada").out
    found = shop.plait("plan", "send-receipt", "--input", TEA, "--input", "total=100", "--json").json["plan"]
    assert "tax" not in found["steps"]
    assert found["excluded"]["satisfied"] == {"total": ["total"]}


def test_a_small_order_gets_no_gift(shop: Desk):
    ran = shop.plait("run", GOAL, "--input", "customer=Ada", "--input", 'items=[{"sku": "tea", "price": 450}]')
    assert ran.out == '{"receipt":"Dear Ada: pay:Ada:544, parcel:tea"}\n'


@pytest.mark.parametrize(
    ("change", "said", "step"),
    [
        (['items=[{"sku": "unicorn", "price": 1}]'], "", "✗ reserve  python"),
        (["flaky_bank=9"], "  released hold:g-1\n", "✗ charge  python  6 attempts"),
    ],
)
def test_an_order_as_goals_that_can_not_be_is_undone(shop: Desk, change: list[str], said: str, step: str):
    args = [part for each in change for part in ("--input", each)]
    ran = shop.plait("run", GOAL, "--id", "g-1", "--input", TEA, *args)
    assert (ran.code, ran.out) == (1, said)
    shown = shop.plait("show", "g-1").out
    assert step in shown
    assert ("✓ compensation of reserve  rollback" in shown) == bool(said)


def test_the_steps_of_the_example_are_right(shop: Desk):
    assert shop.plait("check", "examples/order/goals.py").out == "8 steps checked by themselves (8 new)\n"


def test_the_example_as_goals_runs_by_itself(tmp_path: Path):
    ran = run("examples.order.goals", cwd=tmp_path, env=environment())
    assert ran.returncode == 0, ran.stderr
    assert "Dear Ada: pay:Ada:4053" in ran.stdout


# -- as a graph --------------------------------------------------------------------------------------------------------

GRAPH = "examples/order/graph.py:order"


def test_an_order_as_a_graph_is_approved_paid_and_shipped(shop: Desk):
    with shop.spawn("run", GRAPH, "--id", "n-1", "--input", "@examples/order/tea.json") as process:
        read_until(process.stderr, "approve")
        [approval] = shop.plait("approvals", "--json").json
        assert shop.plait("approve", approval["id"]).code == 0
        out, err = process.communicate()
    assert process.returncode == 0, err
    assert '"parcels":["parcel:n-1:tea","parcel:n-1:pot"]' in out


def test_the_graph_runs_by_itself(tmp_path: Path):
    ran = run("examples.order.graph", cwd=tmp_path, env=environment())
    assert ran.returncode == 0, ran.stderr
    assert "approved: Ship this order?" in ran.stdout
    assert "parcel:n-1:tea" in ran.stdout


# -- as references -----------------------------------------------------------------------------------------------------

REFS = "examples/order/refs.py:order"


def test_an_order_as_references_is_paid_and_shipped(shop: Desk):
    ran = shop.plait("run", REFS, "--id", "r-1", "--input", "@examples/order/tea.json")
    assert ran.code == 0, ran.err
    assert '"shipped":["tea is on its way","pot is on its way"]' in ran.out


def test_the_references_run_by_themselves(tmp_path: Path):
    ran = run("examples.order.refs", cwd=tmp_path, env=environment())
    assert ran.returncode == 0, ran.stderr
    assert "paid 39.86" in ran.stdout


# -- in AFL ------------------------------------------------------------------------------------------------------------


def test_an_order_in_afl_is_paid_and_shipped(shop: Desk):
    place = "examples/order/order.afl"
    given = "@examples/order/tea.json"
    ran = shop.plait("afl", "run", place, "shop.Order", "--handlers", "examples/order/afl.py", "-i", given, "--json")
    assert ran.code == 0, ran.err
    assert "pot is on its way" in ran.out


@pytest.mark.parametrize("name", ["afl", "family"])
def test_the_orders_in_afl_run_by_themselves(tmp_path: Path, name: str):
    ran = run(f"examples.order.{name}", cwd=tmp_path, env=environment())
    assert ran.returncode == 0, ran.stderr
    assert "paid 39.86" in ran.stdout
    assert "pot is on its way" in ran.stdout
