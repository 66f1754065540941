"""What runs, in which order, and what is skipped, returned or set in advance: section 3 of the spec."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.refs.player import Player, call, code, ret, tool

# -- the examples of the seed ----------------------------------------------------------------------------------------

EARLY_EXIT: dict[str, Any] = {
    "steps": [
        {
            "name": "validate",
            "action": {
                "code": "export default function(input) { const ok = !!input.email; "
                "return { ok, notOk: !ok, error: ok ? null : 'Email required' } }"
            },
            "input": {"email": "@input.email"},
        },
        {
            "name": "exit_if_invalid",
            "when": {"ref": "@validate.notOk", "eq": True},
            "action": {"return": True},
            "input": {"error": "@validate.error"},
        },
        {
            "name": "create_user",
            "when": {"ref": "@validate.ok", "eq": True},
            "action": {"toolName": "CREATE_USER"},
            "input": {"email": "@input.email"},
        },
    ]
}


def test_the_seeds_early_exit_returns_the_error() -> None:
    player = Player(EARLY_EXIT).start({})
    assert player.inputs["validate"] == {}
    player.finish("validate", {"ok": False, "notOk": True, "error": "Email required"})
    assert player.output == {"error": "Email required"}
    assert "create_user" not in player.inputs


def test_the_seeds_early_exit_is_not_taken_by_a_valid_input() -> None:
    player = Player(EARLY_EXIT).start({"email": "ann@x.org"})
    player.finish("validate", {"ok": True, "notOk": False, "error": None})
    assert player.inputs["create_user"] == {"email": "ann@x.org"}
    player.finish("create_user", {"id": 7})
    assert player.output == {"exit_if_invalid": None, "create_user": {"id": 7}}


@pytest.mark.parametrize(
    ("when", "output", "runs"),
    [
        ({"ref": "@before.eligible"}, {"eligible": True}, True),
        ({"ref": "@before.eligible"}, {"eligible": 0}, False),
        ({"ref": "@before.eligible", "eq": True}, {"eligible": True}, True),
        ({"ref": "@before.eligible", "eq": True}, {"eligible": 1}, False),
        ({"ref": "@before.count", "gt": 0}, {"count": 1}, True),
        ({"ref": "@before.count", "gt": 0}, {"count": "1"}, False),
        ({"ref": "@before.priority", "neq": "low"}, {"priority": "high"}, True),
        ({"ref": "@before.priority", "neq": "low"}, {"priority": "low"}, False),
        ({"ref": "@before.nothing", "eq": None}, {}, True),
        ({"ref": "@before.nothing", "exists": False}, {}, True),
    ],
)
def test_the_seeds_conditions(when: dict[str, Any], output: Any, runs: bool) -> None:
    player = Player([tool("before"), tool("after", when=when)]).start()
    player.finish("before", output)
    assert ("after" in player.inputs) is runs
    assert player.statuses["after"] == ("running" if runs else "skipped")


def test_skipped_steps_cascade() -> None:
    steps = [
        tool("a"),
        tool("b", when={"ref": "@a.go"}),
        tool("c", {"x": "@b.deep.field"}),
        tool("d", when={"ref": "@b"}),
    ]
    player = Player(steps).start()
    player.finish("a", {"go": False})
    assert player.inputs["c"] == {"x": None}
    assert player.statuses == {"a": "completed", "b": "skipped", "c": "running", "d": "skipped"}
    skipped = player.of("step.skipped")[0]
    assert (skipped["condition"], skipped["value"]) == ({"ref": "@a.go"}, False)


# -- order -----------------------------------------------------------------------------------------------------------


def test_steps_without_dependencies_run_side_by_side_in_list_order() -> None:
    player = Player([tool("b"), tool("a"), tool("c", {"x": "@a", "y": "@b"})]).start()
    assert player.order("step.started") == ["b", "a"]
    player.finish("a", 1)
    player.finish("b", 2)
    assert player.inputs["c"] == {"x": 1, "y": 2}


def test_depends_on_orders_without_data_and_is_no_reference() -> None:
    player = Player([tool("a"), tool("b", dependsOn=["a"])]).start()
    assert list(player.tasks) == ["a"]
    player.finish("a", 1)
    player.finish("b", 2)
    assert player.output == {"a": 1, "b": 2}


def test_the_output_is_that_of_the_only_terminal_step() -> None:
    player = Player([tool("a"), tool("b", {"x": "@a"})]).start()
    player.finish_all(lambda id, input: [id])
    assert player.output == ["b"]


def test_an_input_may_be_one_whole_reference() -> None:
    player = Player([tool("a", "@input.args")]).start({"args": {"x": [1]}})
    assert player.inputs["a"] == {"x": [1]}


def test_references_that_lead_nowhere_are_left_out_and_listed() -> None:
    player = Player([tool("a", {"x": "@input.no", "y": "hi @input.no"})]).start()
    assert player.inputs["a"] == {"y": "hi @input.no"}
    assert player.of("step.started")[0]["unresolved"] == ["@input.no"]


def test_the_context_is_known() -> None:
    player = Player([tool("a", {"run": "@ctx.execution_id", "depth": "@ctx.depth"})], depth=2).start()
    assert player.inputs["a"] == {"run": "run", "depth": 2}


def test_no_more_than_64_tasks_are_in_flight_and_the_rest_follow_in_list_order() -> None:
    player = Player([call(f"s{number}") for number in range(100)]).start()
    assert list(player.tasks) == [f"s{number}" for number in range(64)]
    player.finish("s5")
    assert list(player.tasks)[-1] == "s64"
    player.crash()
    assert len(player.tasks) == 64
    player.finish_all()
    assert player.status == "completed"


# -- return and bail ---------------------------------------------------------------------------------------------------


def test_a_return_comes_before_effects_that_are_ready_with_it() -> None:
    player = Player([tool("a"), tool("b", {"x": "@a"}), ret("r", {"y": "@a"})]).start()
    player.finish("a", 1)
    assert player.output == {"y": 1}
    assert "b" not in player.inputs


def test_of_two_returns_the_first_in_list_order_wins() -> None:
    player = Player([tool("a"), ret("late", {"n": 2}, when={"ref": "@a"}), ret("soon", {"n": 1}, when={"ref": "@a"})])
    player.start().finish("a", True)
    assert player.output == {"n": 2}


def test_work_in_flight_at_a_return_goes_on_and_is_recorded_late() -> None:
    player = Player([tool("slow"), tool("a"), ret("r", {"x": "@a"})]).start()
    player.finish("a", 1)
    assert player.status == "completed"
    player.finish("slow", 2)
    assert player.events[-1] == {"type": "step.completed", "step": "slow", "output": 2, "late": True}
    assert player.output == {"x": 1}


def test_bail_ends_the_run_with_the_steps_own_output() -> None:
    player = Player([tool("a", bail={"ref": "@a.stop", "eq": True}), tool("b", {"x": "@a"})]).start()
    player.finish("a", {"stop": True})
    assert player.output == {"stop": True}
    assert player.of("refs.ended")[0]["how"] == "bail"


def test_bail_is_not_tested_after_a_skip_or_a_failure() -> None:
    steps = [
        tool("a", bail=True, when={"ref": "@input.no"}),
        tool("b", bail=True, config={"onError": "continue"}),
        tool("c", {"x": "@a", "y": "@b"}),
    ]
    player = Player(steps).start()
    player.fail("b")
    assert list(player.tasks) == ["c"]


# -- presets -----------------------------------------------------------------------------------------------------------


def test_a_preset_completes_its_step_whatever_its_condition() -> None:
    definition = {
        "steps": [tool("a", when={"ref": "@input.no"}), code("b", {"x": "@a.n"})],
        "presets": {"a": {"n": 5}},
    }
    player = Player(definition).start()
    assert player.inputs == {"b": {"x": 5}}
    assert player.of("step.completed")[0]["preset"] is True


def test_a_message_presets_a_step_that_has_not_started() -> None:
    player = Player([tool("a"), tool("b", {"x": "@a"})]).start()
    player.message("preset", {"stepName": "b", "output": 9})
    player.finish("a", 1)
    assert player.output == 9


@pytest.mark.parametrize(
    ("name", "body", "code"),
    [
        ("preset", {"stepName": "a", "output": 1}, "step_in_use"),
        ("preset", {"stepName": "nobody", "output": 1}, "bad_patch"),
        ("preset", {"output": 1}, "bad_preset"),
        ("preset", None, "bad_preset"),
        ("hello", {}, "unknown_message"),
    ],
)
def test_other_messages_are_refused(name: str, body: Any, code: str) -> None:
    player = Player([tool("a")]).start()
    player.message(name, body)
    assert [each[0] for each in player.refusals] == [code]


# -- delayed starts ----------------------------------------------------------------------------------------------------


def test_a_delayed_start_waits_for_its_time_also_after_a_crash() -> None:
    player = Player({"steps": [tool("a")], "start_at_epoch_ms": 5_000}).start()
    assert not player.tasks
    assert [reason.text for reason in player.machine.waiting({})] == ["starts at 1970-01-01 00:00:05 UTC"]
    player.crash()
    player.ring()
    assert list(player.tasks) == ["a"]
    player.crash()
    assert list(player.tasks) == ["a"]


def test_a_start_in_the_past_starts_at_once() -> None:
    assert list(Player({"steps": [tool("a")], "start_at_epoch_ms": 1}).start().tasks) == ["a"]
