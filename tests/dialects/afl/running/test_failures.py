"""Errors, catch, reopen, cancel, deadline, compensation and fork."""

from typing import Any

import pytest

from plait.dialects.afl.handlers import Registration, child
from plait.dialects.afl.running import iteration as iterations
from plait.dialects.afl.running import limits, settle, states
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.inputs import Loaded, Resume
from tests.dialects.afl.player import Player

FACETS = """
    event facet Ask(x: Json) => (n: Long)
    event facet Undo(x: Json, result: Json)
    facet Value(v: Json)
"""


ASKS_FOR_EACH = "foreach i in $.a { q = Ask(x = i) }"


def program(*workflows: str) -> str:
    return f"namespace t {{ {FACETS} {' '.join(workflows)} }}"


def body(text: str, **more: Any) -> Player:
    """A run of a workflow with that block."""
    return Player(
        program(f"workflow W(a: Json = null, b: Json = null) => (n: Long, why: String) andThen {{ {text} }}"), **more
    )


def test_a_failed_event_fails_its_run_with_the_words_of_the_agent_and_the_path():
    player = body("s = Value(v = 1) andThen { q = Ask(x = 1) }").start()
    player.fail("s/q", "no map", type="LookupError")
    assert (player.error.code, player.error.type, player.error.message) == ("AFL_EVENT_FAILED", "LookupError", "no map")
    assert player.error.attrs["path"] == "s/q"


def test_yields_come_when_the_last_that_was_done_is_a_log_or_an_assertion():
    player = body("s = Ask(x = 1) sys.log(n = s.n) sys.assert(s.n > 1) yield W(n = s.n)").start()
    player.finish("s", {"n": 2})
    assert (player.status, player.output) == ("completed", {"n": 2})
    said = [each["values"] for each in player.events if each["type"] == "afl.sys"]
    assert said == [{"n": 2}, {}]


def test_a_block_of_nothing_but_logs_completes():
    assert body("sys.log(a = 1)").start().status == "completed"
    assert body("s = Value(v = 1) sys.log(a = s.v)").start().status == "completed"


def test_a_block_waits_for_what_runs_and_creates_nothing_more():
    player = body("a = Ask(x = 1) b = Ask(x = 2) c = Ask(x = b.n)").start()
    player.fail("a")
    assert player.status == "running"
    assert "`a` failed; its block waits for `b`" in [reason.text for reason in player.machine.waiting({})]
    player.finish("b", {"n": 1})
    assert player.status == "failed"
    assert "c" not in player.paths
    assert player.step("b").state == states.COMPLETE


def test_a_block_that_could_only_wait_for_failed_steps_ends():
    player = body("o = Value(v = 1) andThen { i = Value(v = late.n) } late = Ask(x = 1) last = Ask(x = 2)").start()
    player.fail("late")
    player.finish("last")
    assert player.status == "failed"
    errors = {each.error.code for each in player.machine.run.state.steps.values() if each.error is not None}
    assert "AFL_UPSTREAM" in errors


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("s = Value(v = $.a / 0)", "AFL_EVALUATION", "Division by zero"),
        ("s = Value(v = $.a.b)", "AFL_REFERENCE", "Property 'b' not found"),
        ("s = Value(v = $.b.c)", "AFL_REFERENCE", "Cannot access property on null"),
        ("sys.assert(false)", "AFL_ASSERT", "sys.assert failed"),
        (
            "s = Value(v = 1) andThen foreach i in $.a { x = Value(v = i) }",
            "AFL_EVALUATION",
            "foreach needs a list, got Long",
        ),
    ],
)
def test_an_expression_without_a_value_fails_its_step(text: str, code: str, message: str):
    player = body(text).start(a=5)
    assert (player.error.code, player.error.message) == (code, message)


def test_a_failed_condition_counts_as_false_and_is_a_warning():
    source = program(
        "workflow W(a: Json) => (n: Long) andThen when { case $.a > 1 => { yield W(n = 1) }"
        " case _ => { yield W(n = 2) } }"
    )
    player = Player(source).start(a="text")
    assert player.output == {"n": 2}
    assert len(player.of("afl.warning")) == 1


def test_what_failed_because_another_step_did_is_not_the_cause():
    player = body("a = Value(v = 0) andThen { b = Value(v = q.n) } q = Ask(x = 1)").start()
    player.fail("q", "no")
    assert player.status == "failed"
    assert (player.error.code, player.error.message) == ("AFL_EVENT_FAILED", "no")


def test_the_first_failure_in_source_order_is_told_whichever_came_first():
    for order in (("a", "b"), ("b", "a")):
        player = body("a = Ask(x = 1) b = Ask(x = 2)").start()
        for name in order:
            player.fail(name, f"{name} is broken")
        assert player.error.message == "a is broken"


# -- catch -------------------------------------------------------------------------------------------------------------


def test_a_catch_sees_the_error_and_its_yields_win():
    player = body("q = Ask(x = 1) catch { yield W(n = 9, why = q.error ++ $.error_type) } yield W(n = 1)").start()
    player.fail("q", "no", type="LookupError")
    assert player.output == {"n": 9, "why": "noLookupError"}
    assert player.of("afl.step.caught")[0]["state"] == states.EVENT_TRANSMIT


def test_a_catch_that_fails_fails_the_step():
    player = body("q = Ask(x = 1) catch { r = Ask(x = 2) }").start()
    player.fail("q")
    player.fail("q/r", "worse")
    assert player.error.message == "worse"


def test_a_declarations_own_catch_goes_first_then_the_statements():
    source = program(
        "facet Own(v: Json) => (n: Long) andThen { q = Ask(x = 1) } catch { r = Ask(x = 2) yield Own(n = 1) }",
        "workflow W() => (n: Long) andThen { o = Own(v = 1) catch { yield W(n = 5) } yield W(n = o.n) }",
    )
    player = Player(source, "W").start()
    player.fail("o/q")
    player.finish("o/r", {"n": 1})
    assert player.output == {"n": 1}
    player = Player(source, "W").start()
    player.fail("o/q")
    player.fail("o/r")
    assert player.status == "failed" or player.output == {"n": 5}
    assert [each["step_id"] for each in player.of("afl.step.caught")] == [player.step("o").id] * 2


def test_a_catch_with_cases_takes_the_one_that_holds():
    text = 'q = Ask(x = 1) catch when { case $.error_type == "A" => { yield W(n = 1) } case _ => { yield W(n = 2) } }'
    for type, n in (("A", 1), ("B", 2)):
        player = body(text).start()
        player.fail("q", type=type)
        assert player.output == {"n": n}


def test_arguments_are_caught_too():
    player = body("q = Value(v = 1 / 0) catch { yield W(why = $.error) }").start()
    assert player.output == {"why": "Division by zero"}


# -- limits ------------------------------------------------------------------------------------------------------------


def test_calls_inside_each_other_have_a_limit_that_no_catch_hides():
    source = program(
        "facet Deep(v: Json) andThen { d = Deep(v = 1) }",
        "workflow W() andThen { s = Deep(v = 1) catch { } }",
    )
    player = Player(source, "W").start()
    assert player.error.code == "AFL_LIMIT"
    assert "65 calls inside each other; the limit is 64" in player.error.message
    assert not [each for each in player.machine.run.nodes.values() if not each.terminal]


def test_steps_and_iterations_and_elements_have_limits(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(iterations, "MAX_STEPS", 5)
    assert body(" ".join(f"s{n} = Value(v = 1)" for n in range(9))).start().error.code == "AFL_LIMIT"
    monkeypatch.undo()
    monkeypatch.setattr(settle, "MAX_ITERATIONS", 3)
    chain = " ".join(f"s{n} = Value(v = s{n - 1}.v)" for n in range(1, 9))
    assert "iterations per run" in body(f"s0 = Value(v = 1) {chain}").start().error.message
    source = program("workflow W(a: Json) andThen foreach i in $.a { s = Value(v = i) }")
    player = Player(source).start(a=list(range(limits.MAX_ELEMENTS + 1)))
    assert "10,001 elements of a foreach" in player.error.message


# -- cancel and deadline -----------------------------------------------------------------------------------------------


def test_a_cancel_ends_live_steps_and_withdraws_events_in_one_commit():
    player = body("a = Ask(x = 1) catch { c = Ask(x = 9) } b = Ask(x = 2)").start()
    count = len(player.log)
    player.cancel()
    assert (player.status, len(player.log), player.tasks) == ("cancelled", count + 1, {})
    assert {each.state for each in player.paths.values()} == {states.ERROR}
    assert [each["type"] for each in player.events].count("afl.event.withdrawn") == 2
    player.crash()
    assert player.tasks == {}


def test_a_deadline_fails_the_run_and_cancels_children():
    player = body("k = Ask(x = 1)", handlers={"Ask": child("kid")}, deadline=5_000).start()
    player.ring()
    assert (player.status, player.error.code) == ("failed", "DEADLINE_EXCEEDED")
    assert len(player.cancelled) == 1


def test_a_late_answer_to_a_cancelled_run_is_recorded_and_changes_nothing():
    player = body("a = Ask(x = 1)").start()
    id = player.step("a").id
    player.cancel()
    player.message("StepContinue", {"step_id": id, "result": {"n": 1}})
    assert player.types[-1] == "afl.continue.ignored"
    assert player.refusals == []


def test_a_patch_is_refused():
    player = body("a = Ask(x = 1)").start()
    player.patch({"op": "add"})
    assert player.refusals[-1][0] == "AFL_UNSUPPORTED"


# -- compensation ------------------------------------------------------------------------------------------------------


def test_a_cancel_with_compensation_undoes_completed_events_last_first():
    undone = {"Ask": Registration("Ask", print, compensate="t.Undo")}
    player = body("a = Ask(x = 1) b = Ask(x = a.n) c = Ask(x = b.n)", handlers=undone).start()
    player.finish("a", {"n": 2})
    player.finish("b", {"n": 3})
    player.cancel(compensate=True)
    assert player.open == {"compensate:b": {"x": 2, "result": {"n": 3}}}
    player.finish("compensate:b")
    assert player.open == {"compensate:a": {"x": 1, "result": {"n": 2}}}
    player.finish("compensate:a")
    assert player.status == "cancelled"


def test_a_child_run_as_compensator_is_refused():
    with pytest.raises(InvalidInput, match="can't undo"):
        body("a = Ask(x = 1)", handlers={"Ask": Registration("Ask", print, compensate="t.Undo"), "Undo": child("kid")})


@pytest.mark.parametrize("letter", [False, True], ids=["run", "dead letter"])
def test_a_run_that_was_compensated_does_not_go_on(letter: bool):
    undone = {"Ask": Registration("Ask", print, compensate="t.Undo")}
    player = body("a = Ask(x = 1) b = Ask(x = a.n)", handlers=undone).start()
    player.finish("a", {"n": 2})
    failed = player.token("b")
    player.fail("b")
    player.give(Resume("compensate"), "compensate")
    player.finish("compensate:a")
    assert player.status == "failed"
    player.ask(Resume("settle", token=failed, verdict="retry") if letter else Resume("retry"))
    assert player.refusals[-1][0] == "AFL_COMPENSATED"
    assert player.open == {}


# -- reopen ------------------------------------------------------------------------------------------------------------


def test_a_retry_puts_failed_events_back_and_keeps_what_is_complete():
    player = body("s = Value(v = 1) andThen { a = Ask(x = 1) b = Ask(x = a.n) } yield W(n = 4)").start()
    player.finish("s/a", {"n": 2})
    player.fail("s/b")
    assert player.status == "failed"
    first = player.of("afl.event.created")[-1]["event"]["event_id"]
    player.retry()
    assert (player.status, list(player.open)) == ("running", ["s/b"])
    assert player.of("afl.event.created")[-1]["event"]["event_id"] != first
    player.crash()
    player.finish("s/b", {"n": 3})
    assert player.output == {"n": 4}


def test_a_second_retry_works_as_the_first():
    player = body("a = Ask(x = 1) yield W(n = a.n)").start()
    for _ in range(3):
        player.fail("a")
        player.crash()
        player.retry()
    player.finish("a", {"n": 3})
    assert player.output == {"n": 3}


def test_upstream_failures_wait_again_after_a_retry():
    player = body("o = Value(v = 1) andThen { i = Ask(x = late.n) } late = Ask(x = 1) last = Ask(x = 2)").start()
    player.fail("late")
    player.finish("last")
    player.retry()
    player.finish("late", {"n": 5})
    assert player.open == {"o/i": {"x": 5}}
    player.finish("o/i")
    assert player.status == "completed"


def test_a_run_without_failed_events_has_nothing_to_retry():
    player = body("s = Value(v = 1 / 0)").start()
    player.retry()
    assert player.refusals[-1][0] == "AFL_NOTHING_TO_RETRY"


@pytest.mark.parametrize(("block", "path"), [("{ q = Ask(x = 1) }", "s/q"), (ASKS_FOR_EACH, "s/[0]/q")])
def test_a_retry_leaves_alone_what_was_caught_further_out(block: str, path: str):
    player = body(f"s = Value(v = 1) andThen {block} catch {{ }} r = Ask(x = s.error)").start(a=[1])
    player.fail(path)
    player.fail("r")
    player.retry()
    assert (player.status, list(player.open)) == ("running", ["r"])
    player.finish("r", {"n": 1})
    assert (player.status, [step for step in player.paths.values() if "Complete" not in step.state]) == (
        "completed",
        [player.step(path)],
    )


def test_a_retry_goes_on_in_the_catch_that_failed_and_not_in_what_it_caught():
    player = body("s = Value(v = 1) andThen { q = Ask(x = 1) } catch { r = Ask(x = 2) }").start()
    player.fail("s/q")
    player.fail("s/r")
    assert player.status == "failed"
    player.retry()
    assert list(player.open) == ["s/r"]
    player.finish("s/r", {"n": 1})
    assert player.status == "completed"


def test_a_dead_letter_of_what_was_caught_further_out_cannot_be_retried():
    player = body("s = Value(v = 1) andThen { q = Ask(x = 1) } catch { } r = Ask(x = s.error)").start()
    token = player.token("s/q")
    player.fail("s/q")
    player.ask(Resume("settle", token=token, verdict="retry"))
    assert player.refusals[-1][0] == "AFL_STEP_COMPLETE"


def test_a_dead_letter_of_a_caught_step_cannot_be_retried():
    player = body("q = Ask(x = 1) catch { yield W(n = 1) }").start()
    token = player.token("q")
    player.fail("q")
    player.ask(Resume("settle", token=TaskToken(token), verdict="retry"))
    assert player.refusals[-1][0] == "AFL_STEP_COMPLETE"
    player.ask(Resume("settle", token=TaskToken(token), verdict="discard"))
    assert len(player.refusals) == 1


# -- fork --------------------------------------------------------------------------------------------------------------


def forked(source: Player, at: int | str | None = None, **edits: Any) -> Player:
    plan = source.bundle.fork(source.machine, at, edits)
    fork = Player(source.source, source.workflow, run_id=RunId("fork"))
    rows: list[dict[str, Any]] = []
    for row in source.log:
        rows.append(
            {"at": row["at"], "events": row["events"][: max(0, plan.upto - sum(len(r["events"]) for r in rows))]}
        )
    fork.load([row for row in rows if row["events"]])
    fork.add(plan.event)
    fork.give(Loaded("fork"))
    return fork


def test_a_fork_from_the_start_may_have_another_input():
    source = program("workflow W(a: Long) => (n: Long) andThen { q = Ask(x = $.a) yield W(n = q.n) }")
    player = Player(source).start(a=1)
    player.finish("q", {"n": 2})
    fork = forked(player, input={"a": 5})
    assert fork.open == {"q": {"x": 5}}
    fork.finish("q", {"n": 7})
    assert fork.output == {"n": 7}


def test_a_fork_may_answer_what_was_open_there():
    player = body("q = Ask(x = 1) r = Ask(x = q.n) yield W(n = r.n)").start()
    at = len(player.events)
    player.finish("q", {"n": 2})
    fork = forked(player, at, results={"q": {"n": 40}})
    assert fork.open == {"r": {"x": 40}}
    with pytest.raises(InvalidInput, match="no event of step 'r' is open there"):
        forked(player, at, results={"r": {}})


def test_a_fork_rounds_down_to_the_end_of_an_iteration():
    player = body("q = Ask(x = 1)").start()
    end = len(player.events)
    assert player.bundle.fork(player.machine, end, {}).upto == player.machine.run.state.iterations_at[-1]
    assert player.bundle.fork(player.machine, 3, {}).upto == 1
    with pytest.raises(InvalidInput):
        player.bundle.fork(player.machine, 9_999, {})
    with pytest.raises(InvalidInput):
        player.bundle.fork(player.machine, end, {"steps": {}})


def test_a_fork_does_a_step_again():
    player = body("q = Ask(x = 1) r = Ask(x = q.n) yield W(n = r.n)").start()
    player.finish("q", {"n": 2})
    player.finish("r", {"n": 3})
    assert forked(player, "r").open == {"r": {"x": 2}}
    assert forked(player, "q").open == {"q": {"x": 1}}
    with pytest.raises(InvalidInput, match="there is no step 'z'"):
        forked(player, "z")
