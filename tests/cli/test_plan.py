"""`plait plan`: what a run towards goals would do."""

from tests.cli.steps import FIND, ORDER, need, out, register
from tests.cli.support import Desk, both_ways

FLOW = {
    "id": "greet-all",
    "name": "greet-all",
    "type": "flow",
    "flow": {"goals": ["find"]},
    "attributes": {
        "mail": need("string", mapping={"name": "email"}),
        "greeted": out("string", mapping={"name": "customer"}),
    },
}


@both_ways
def test_a_plan_tells_what_runs_in_which_order_and_who_gives_what(desk: Desk):
    register(desk)
    ran = desk.plait("plan", "receipt", "--input", "email=ann@x.org", "--input", "items=[40, 90]")
    assert ran.code == 0
    assert "plan   4 steps, can be started" in ran.out
    lines = [line.split() for line in ran.out.splitlines()]
    order = [line[:2] for line in lines if line and line[0].isdigit()]
    assert order == [["1", "find"], ["1", "goods"], ["2", "gift"], ["3", "receipt"]]
    assert "email ← input" in ran.out
    assert "customer ← find, gift? ← gift" in ran.out


@both_ways
def test_what_is_missing_is_named_with_who_needs_it_and_the_exit_code_says_so(desk: Desk):
    register(desk)
    ran = desk.plait("plan", "receipt", "--input", "customer=Ann")
    assert ran.code == 2
    assert "can't be started" in ran.out
    assert "items  needed by goods: --input items=…" in ran.out
    assert "find  not needed: its outputs are in the input (customer)" in ran.out
    found = desk.plait("plan", "receipt", "--json")
    assert found.code == 2
    assert found.json["valid"] is False
    assert found.json["plan"]["required"] == ["email", "items"]


@both_ways
def test_inputs_are_json_where_they_can_be_and_text_else(desk: Desk):
    register(desk)
    (desk.folder / "in.json").write_text('{"a": 1, "b": 2}')
    inputs = ["@in.json", "b=3", "c=ann@x.org", "d=[1]", 'e="7"', '{"f": null}']
    args = [part for each in inputs for part in ("--input", each)]
    found = desk.plait("plan", "find", *args, "--json").json
    assert found["input"] == {"a": 1, "b": 3, "c": "ann@x.org", "d": [1], "e": "7", "f": None}


def test_the_plan_of_a_child_is_shown_inside_its_step(desk: Desk):
    register(desk, *ORDER, FLOW)
    ran = desk.plait("plan", "greet-all", "--input", "mail=ann@x.org")
    assert ran.code == 0
    assert "inside greet-all (goals: find)" in ran.out
    assert "1  find  script  email ← input  customer" in ran.out


def test_an_optional_input_that_nobody_waits_for_is_a_warning(desk: Desk):
    eager = FIND | {"id": "eager", "attributes": {"customer": {"role": "optional"}, "x": out()}}
    register(desk, FIND, eager | {"script": {"language": "ale", "script": "{:x customer}"}})
    ran = desk.plait("plan", "eager", "--input", "email=a")
    assert "warning step 'eager': optional input 'customer' is not waited for, though 'find' provides it" in ran.out


def test_what_can_not_be_planned_is_refused(desk: Desk):
    register(desk)
    ran = desk.plait("plan", "receit", "--json")
    assert (ran.code, ran.problem["code"]) == (2, "goals.step_not_found")
    assert "nearest: 'receipt'" in ran.problem["fix"]
    ran = desk.plait("plan", "find", "--input", "email", "--json")
    assert (ran.code, ran.problem["code"]) == (2, "cli.bad_pair")
    ran = desk.plait("plan", "find", "--input", "@steps.json", "--json")
    assert (ran.code, ran.problem["code"]) == (2, "cli.bad_input")
