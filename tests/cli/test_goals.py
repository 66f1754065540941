"""Runs towards goals, from the command line: run, looked at, told."""

import pytest

from tests.cli.steps import ORDER, need, out, register, script
from tests.cli.support import Desk, both_ways

INPUT = ("--input", "email=ann@x.org", "--input", "items=[40, 90]")

MODULE = """\
from plait import Context, workflow
from plait.catalog import catalog_step, python_step


@python_step
def fetch(user: str) -> str:
    return f"{user}@x.org"


greet = catalog_step("greet").required("result", str).output("greeting", str).ale('{:greeting (str "hello " result)}')
part = catalog_step("part").required("user", str).output("size", int).ale("{:size (length user)}")


@workflow
async def other(ctx: Context) -> str:
    return "done"
"""


@both_ways
def test_a_goal_is_reached_and_its_outputs_are_printed(desk: Desk):
    register(desk)
    ran = desk.plait("run", "goals:receipt", *INPUT, "--id", "r")
    assert (ran.code, ran.out) == (0, '{"receipt":"c-ann@x.org pays 130 biscuits"}\n')
    assert "run r of receipt" in ran.err
    assert "✓ receipt  script" in ran.err
    assert "init" not in ran.err


@both_ways
def test_several_goals_are_reached_by_one_run(desk: Desk):
    register(desk)
    ran = desk.plait("run", "goals:find,pack", *INPUT, "--json")
    assert ran.code == 0
    assert ran.json["output"] == {
        "customer": "c-ann@x.org",
        "box": [{"items": 40, "box": 40}, {"items": 90, "box": 90}],
    }


@both_ways
def test_the_same_id_again_is_the_same_run(desk: Desk):
    register(desk)
    first = desk.plait("run", "goals:find", "--input", "email=a", "--id", "r")
    assert desk.plait("run", "goals:find", "--id", "r").out == first.out
    again = desk.plait("run", "goals:find", "--input", "email=b", "--id", "r", "--json")
    assert (again.code, again.problem["code"]) == (2, "goals.run_exists")


@both_ways
def test_a_goal_that_lacks_inputs_is_refused(desk: Desk):
    register(desk)
    ran = desk.plait("run", "goals:receipt", "--json")
    assert (ran.code, ran.problem["code"]) == (2, "goals.inputs_missing")


def test_goals_need_a_database_that_is_there(desk: Desk):
    ran = desk.plait("run", "goals:receipt", "--json")
    assert (ran.code, ran.problem["code"]) == (2, "cli.no_database")
    assert not (desk.folder / "plait.db").exists()


def test_steps_of_a_module_are_run_with_their_functions(desk: Desk):
    desk.write(MODULE)
    assert desk.plait("run", f"{desk.module}:greet", "--input", "user=ann").out == '{"greeting":"hello ann@x.org"}\n'
    assert desk.plait("run", f"{desk.module}:greet,part", '{"user": "ann"}', "--json").json["output"] == {
        "greeting": "hello ann@x.org",
        "size": 3,
    }
    assert desk.run("other").out == '"done"\n'


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("gret", "cli.no_workflow", "its workflows: other; its steps: fetch, greet, part"),
        ("greet,other", "cli.bad_target", ""),
        ("catalog_step", "cli.not_a_workflow", ""),
    ],
)
def test_what_can_not_be_run_is_refused(desk: Desk, name: str, code: str, said: str):
    desk.write(MODULE)
    ran = desk.plait("run", f"{desk.module}:{name}", "--json")
    assert (ran.code, ran.problem["code"], ran.problem["detail"]) == (2, code, said)


@both_ways
def test_a_run_is_shown_with_its_steps_in_order_and_who_gave_what(desk: Desk):
    register(desk)
    desk.plait("run", "goals:receipt", "--input", "email=a", "--input", "items=[1]", "--input", "unused=7", "--id", "r")
    shown = desk.plait("show", "r").out
    assert "goals    receipt\n" in shown
    tree = [line.split()[2] for line in shown.splitlines() if "──" in line]
    assert tree == ["find", "goods", "gift", "receipt"]
    assert "- gift  script  " in shown
    assert "predicate returned false" in shown
    assert "customer  find     " in shown
    assert "unused    input    7" in shown
    found = desk.plait("show", "r", "--json").json
    assert found["details"]["plan_diff"]["completed"] == ["find", "goods", "receipt"]


@both_ways
def test_a_failed_run_says_which_step_it_was(desk: Desk):
    broken = script("find", '(raise "no " email)', {"email": need("string"), "customer": out("string")})
    register(desk, *[broken if step["id"] == "find" else step for step in ORDER])
    ran = desk.plait("run", "goals:receipt", *INPUT, "--id", "r")
    assert ran.code == 1
    assert "run r failed: find failed: line 1: no ann@x.org" in ran.err
    assert "✗ find  script" in desk.plait("show", "r").out
    assert "→ when the cause is gone: plait retry r" in desk.plait("why", "r").out


@both_ways
def test_a_fork_may_give_a_name_another_value(desk: Desk):
    register(desk)
    desk.plait("run", "goals:receipt", *INPUT, "--id", "r")
    assert desk.plait("fork", "r", "--at", "receipt", "--set", 'customer="Bob"', "--id", "f").code == 0
    ran = desk.plait("run", "goals:receipt", "--id", "f")
    assert ran.out == '{"receipt":"Bob pays 130 biscuits"}\n'


def test_a_step_whose_function_is_not_loaded_blocks_its_run_until_it_is(desk: Desk):
    desk.write(MODULE)
    assert desk.plait("check", desk.module, "--register").code == 0
    ran = desk.plait("run", "goals:greet", "--input", "user=ann", "--id", "r")
    assert ran.code == 4
    assert "no handler `fetch`. To fix: load the module that has the function: plait serve MODULE" in ran.err
    assert (
        "→ load the module that has the function: plait serve MODULE, or plait run MODULE:STEP"
        in desk.plait("why", "r").out
    )
    assert desk.plait("run", f"{desk.module}:greet", "--id", "r").out == '{"greeting":"hello ann@x.org"}\n'
