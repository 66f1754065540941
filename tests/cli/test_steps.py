"""`plait check` of steps, and `plait catalog`."""

from typing import Any

import pytest

from plait.cli.server import ServerSession
from plait.dialects.goals.steps.reading import read_step
from plait.dialects.goals.surface.catalogs import catalog_of, put
from plait.errors import Conflict
from plait.registry.client import Client
from tests.cli.steps import FIND, GOODS, ORDER, PACK, RECEIPT, need, out, register, script, write
from tests.cli.support import Desk, both_ways
from tests.server.serving import serving

MODULE = """\
from plait.catalog import catalog_step, python_step

goods = catalog_step("goods").required("items", list).output("goods", int).ale("{:goods (reduce + items)}")
_half = catalog_step("half")
again = goods


@python_step
def shout(goods: int) -> str:
    return f"{goods}!"
"""


@both_ways
@pytest.mark.parametrize("wrap", [lambda steps: steps, lambda steps: {"steps": steps}], ids=["a list", "an object"])
def test_steps_are_registered_and_listed(desk: Desk, wrap: Any):
    write(desk, wrap(ORDER))
    assert desk.plait("check", "steps.json", "--register").out == "5 steps registered (5 new)\n"
    assert [step["id"] for step in desk.plait("catalog", "--json").json] == ["find", "gift", "goods", "pack", "receipt"]
    listed = desk.plait("catalog").out
    assert "receipt  script  customer, gift?, goods  receipt " in listed
    assert "pack     script  items[each]             box " in listed


@both_ways
def test_a_file_may_hold_one_step(desk: Desk):
    write(desk, FIND)
    assert desk.plait("check", "steps.json", "--register").out == "1 step registered (1 new)\n"
    assert desk.plait("check", "steps.json", "--register").out == "1 step registered (1 same)\n"


@both_ways
def test_a_step_that_differs_is_changed_only_if_that_is_asked_for(desk: Desk):
    register(desk)
    changed = FIND | {"name": "Find the customer"}
    write(desk, [changed, GOODS])
    ran = desk.plait("check", "steps.json")
    assert (ran.code, ran.out) == (0, "2 steps right (1 changed, 1 same)\n")
    ran = desk.plait("check", "steps.json", "--register")
    assert ran.code == 1
    assert "steps.json: /0: error step 'find' exists and differs in name; use --update [goals.step_exists]" in ran.out
    assert desk.plait("check", "steps.json", "--register", "--update").out == "2 steps registered (1 changed, 1 same)\n"
    assert "name     Find the customer\n" in desk.plait("catalog", "show", "find").out


@both_ways
def test_everything_that_is_wrong_is_named_with_its_place_and_nothing_is_registered(desk: Desk):
    register(desk, FIND)
    typo = script("typo", "{:x amout}", {"amount": need("number"), "x": out()})
    wrong_type = script("wrong-type", "{:y 1}", {"customer": need("number"), "y": out()})
    write(desk, {"steps": [GOODS, {"id": "Bad Id", "name": "n", "type": "sync"}, typo, wrong_type, GOODS]})
    ran = desk.plait("check", "steps.json", "--register", "--json")
    assert ran.code == 1
    assert ran.json["registered"] is False
    assert ran.json["steps"] == {"goods": "new"}
    found = {(error["pointer"], error["code"]) for error in ran.json["errors"]}
    assert found == {
        ("/steps/1/id", "goals.step_invalid"),
        ("/steps/1/http", "goals.step_invalid"),
        ("/steps/2/script/script", "goals.script_invalid"),
        ("/steps/3/attributes/customer/type", "goals.type_conflict"),
        ("/steps/4", "cli.step_twice"),
    }
    assert {error["file"] for error in ran.json["errors"]} == {"steps.json"}
    assert [step["id"] for step in desk.plait("catalog", "--json").json] == ["find"]


def test_steps_of_a_set_may_depend_on_each_other_but_not_in_a_circle(desk: Desk):
    a = script("a", "{:x 1}", {"y": need(), "x": out()})
    b = script("b", "{:y 1}", {"x": need(), "y": out()})
    write(desk, [a, b])
    ran = desk.plait("check", "steps.json")
    assert ran.code == 1
    assert "steps.json: /1: error circular dependency: " in ran.out


def test_without_a_database_steps_are_checked_by_themselves_and_none_is_made(desk: Desk):
    write(desk, ORDER)
    assert desk.plait("check", "steps.json").out == "5 steps checked by themselves (5 new)\n"
    assert desk.plait("check", "steps.json", "--lint-only").out == "5 steps checked by themselves (5 new)\n"
    assert not (desk.folder / "plait.db").exists()


def test_steps_of_a_module_are_checked_and_registered_too(desk: Desk):
    desk.write(MODULE)
    assert desk.plait("check", desk.module, "--register").out == "2 steps registered (2 new)\n"
    assert [step["id"] for step in desk.plait("catalog", "--json").json] == ["goods", "shout"]


def test_a_step_of_a_module_that_is_wrong_is_named_by_its_variable(desk: Desk):
    desk.write('from plait.catalog import catalog_step\nbad = catalog_step("bad").required("n").ale("{:x m}")\n')
    ran = desk.plait("check", desk.module)
    assert ran.code == 1
    assert f"{desk.module}.py: bad/script/script: error script of 'bad', line 1: unknown name 'm'" in ran.out


@pytest.mark.parametrize(
    ("text", "code"),
    [("{", "value.malformed"), ('{"steps": 1}', "cli.bad_steps"), ('{"steps": [], "more": 1}', "cli.bad_steps")],
)
def test_a_file_that_holds_no_steps_is_refused(desk: Desk, text: str, code: str):
    (desk.folder / "steps.json").write_text(text)
    ran = desk.plait("check", "steps.json", "--json")
    assert (ran.code, ran.problem["code"]) == (2, code)


@pytest.mark.parametrize("args", [("--update",), ("--lint-only", "--register")])
def test_options_that_don_t_go_together_are_refused(desk: Desk, args: tuple[str, ...]):
    write(desk, FIND)
    ran = desk.plait("check", "steps.json", *args, "--json")
    assert (ran.code, ran.problem["code"]) == (2, "cli.usage")


@both_ways
def test_a_step_is_shown_with_those_it_is_tied_to(desk: Desk):
    register(desk)
    shown = desk.plait("catalog", "show", "receipt").out
    assert 'does     {:receipt (str customer " pays " goods " " gift)}' in shown
    assert "retries  up to 10, exponential, 1.0 s to 1 min 0 s" in shown
    assert 'optional  gift      string  default "alone", waits  gift' in shown
    assert "required  customer  string                          find" in shown
    assert desk.plait("catalog", "show", "receipt", "--json").json["id"] == "receipt"


@both_ways
def test_a_step_that_is_not_there_is_refused_with_what_was_meant(desk: Desk):
    register(desk)
    ran = desk.plait("catalog", "show", "receit", "--json")
    assert (ran.code, ran.problem["code"]) == (2, "goals.step_not_found")


@both_ways
def test_taking_a_step_out_tells_what_others_lack_then(desk: Desk):
    register(desk)
    ran = desk.plait("catalog", "rm", "find")
    assert ran.out == (
        "step find: removed\n  no step provides `customer` for receipt any more: runs must have it in their input\n"
    )
    assert desk.plait("catalog", "rm", "pack", "--json").json == {"removed": "pack", "orphans": {}, "flows": []}
    assert desk.plait("catalog", "rm", "pack").code == 2


@both_ways
def test_steps_are_found_by_label(desk: Desk):
    register(desk, RECEIPT | {"labels": {"team": "pay"}}, PACK)
    assert [step["id"] for step in desk.plait("catalog", "--label", "team=pay", "--json").json] == ["receipt"]
    assert desk.plait("catalog", "--label", "team=no").out == "no such steps\n"


def test_namespaces_have_catalogs_of_their_own(desk: Desk):
    write(desk, FIND)
    desk.plait("check", "steps.json", "--register", "--namespace", "other")
    assert desk.plait("catalog").out == "no steps; `plait check steps.json --register` adds some\n"
    assert "find" in desk.plait("catalog", "-n", "other").out


async def test_when_the_catalog_of_a_server_changes_under_us_nothing_is_registered():
    async with serving() as served, Client(served.url) as client:
        session = ServerSession(client, "default")
        await client.catalog.register(GOODS | {"name": "of someone else"})
        with pytest.raises(Conflict, match="step 'goods' exists and differs in name"):
            await put(catalog_of(session), [read_step(FIND), read_step(GOODS)], update=False)
        assert [step.id for step in await client.catalog.list()] == ["goods"]
