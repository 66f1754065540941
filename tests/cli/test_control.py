"""`cancel`, `retry`, `fork`, `message`: with a living engine in another process, and without one."""

import signal

import pytest

from tests.cli.support import Desk, both_ways

KEPT = "kept: it waits in the database until an engine runs"


# -- message -----------------------------------------------------------------------------------------------------


@both_ways
def test_a_message_reaches_a_run_in_another_process(desk: Desk):
    with desk.engine():
        desk.start("waits", "w")
        ran = desk.plait("message", "w", "go", '{"n": 1}')
        assert (ran.code, ran.out) == (0, f"run w: message `go` sent; {desk.heard}\n")
        assert desk.end("w")["output"] == {"got": {"n": 1}}


def test_a_message_without_an_engine_is_kept(desk: Desk):
    desk.start("waits", "w")
    assert desk.plait("message", "w", "go", "7").out == f"run w: message `go` sent; {KEPT}\n"
    assert desk.run("waits", "--id", "w").out == '{"got":7}\n'


def test_a_message_without_a_body_has_null(desk: Desk):
    desk.start("waits", "w")
    assert desk.plait("message", "w", "go").code == 0
    assert desk.run("waits", "--id", "w").out == '{"got":null}\n'


def test_the_same_message_id_is_one_message(desk: Desk):
    desk.start("waits", "w")
    for body in ("1", "2"):
        sent = desk.plait("message", "w", "go", body, "--message-id", "m-1", "--json").json
        assert (sent["message_id"], sent["taken"], sent["status"]) == ("m-1", False, "running")
    assert desk.run("waits", "--id", "w").out == '{"got":1}\n'


def test_a_dead_engine_is_not_waited_for(desk: Desk):
    with desk.engine() as process:
        desk.start("waits", "w")
        process.send_signal(signal.SIGKILL)
        process.wait()
    ran = desk.plait("message", "w", "go", "--json")
    assert ran.json["taken"] is False


@both_ways
@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("w", "go", "{"), "value.malformed"),
        (("w", "go", "@nowhere"), "cli.bad_file"),
        (("nobody", "go"), "kernel.no_run"),
    ],
)
def test_a_bad_message_is_refused(desk: Desk, args: tuple[str, ...], code: str):
    desk.start("waits", "w")
    ran = desk.plait("message", *args, "--json")
    assert (ran.code, ran.problem["code"]) == (2, code)


@both_ways
def test_an_ended_run_takes_no_message(desk: Desk):
    desk.run("nothing", "--id", "n")
    ran = desk.plait("message", "n", "go", "--json")
    assert (ran.code, ran.problem["code"]) == (2, "RUN_FINISHED")


# -- cancel ------------------------------------------------------------------------------------------------------


@both_ways
def test_cancel_ends_a_run_in_another_process(desk: Desk):
    with desk.engine():
        desk.start("waits", "w")
        ran = desk.plait("cancel", "w", "--reason", "enough")
        assert ran.out == f"run w: cancel; {desk.heard}\n"
        found = desk.end("w")
    assert (found["status"], found["error"]["message"]) == ("cancelled", "enough")


@both_ways
def test_cancel_can_undo_what_was_done(desk: Desk):
    with desk.engine():
        desk.start("careful", "c")
        assert desk.plait("cancel", "c", "--compensate").code == 0
        assert desk.end("c")["status"] == "cancelled"
    assert (desk.folder / "undone").read_text() == "take"


def test_a_cancel_without_an_engine_is_kept(desk: Desk):
    desk.start("waits", "w")
    assert desk.plait("cancel", "w").out == f"run w: cancel; {KEPT}\n"
    assert desk.plait("show", "w", "--json").json["status"] == "running"
    assert desk.run("waits", "--id", "w").code == 3


@both_ways
def test_an_ended_run_can_not_be_cancelled(desk: Desk):
    desk.run("nothing", "--id", "n")
    ran = desk.plait("cancel", "n")
    assert ran.code == 2
    assert "run n can't be cancelled: it has completed" in ran.err


# -- compensate ----------------------------------------------------------------------------------------------------


@both_ways
def test_what_an_ended_run_did_can_be_undone(desk: Desk):
    with desk.engine():
        desk.start("careful", "c")
        assert desk.plait("cancel", "c").code == 0
        desk.end("c")
        assert not (desk.folder / "undone").exists()
        ran = desk.plait("compensate", "c")
        assert (ran.code, ran.out) == (0, f"run c: compensate; {desk.heard}\n")
        assert desk.end("c")["status"] == "cancelled"
    assert (desk.folder / "undone").read_text() == "take"


@both_ways
def test_a_run_under_way_can_not_be_undone(desk: Desk):
    with desk.engine():
        desk.start("waits", "w")
        assert desk.plait("compensate", "w").code == 2


# -- retry -------------------------------------------------------------------------------------------------------


@both_ways
def test_retry_goes_on_with_a_failed_run(desk: Desk):
    (desk.folder / "closed").touch()
    desk.run("gated", "--id", "g")
    (desk.folder / "closed").unlink()
    with desk.engine():
        ran = desk.plait("retry", "g", "--json")
        assert (ran.code, ran.json.get("taken", True)) == (0, True)
        assert desk.end("g")["output"] == "passed"


@both_ways
def test_retry_from_an_operation_does_it_again(desk: Desk):
    desk.run("gated", "--id", "g")
    with desk.engine():
        assert desk.plait("retry", "g", "--from", "gate").out == f"run g: retry from gate; {desk.heard}\n"
        assert desk.end("g")["status"] == "completed"
    types = [line.split()[2] for line in desk.plait("events", "g").out.splitlines()]
    assert "run.rewound" in types


@both_ways
def test_retry_of_a_run_that_is_well_is_refused(desk: Desk):
    desk.run("nothing", "--id", "n")
    ran = desk.plait("retry", "n", "--json")
    assert (ran.code, ran.problem["code"]) == (2, "cli.nothing_to_retry")


@both_ways
def test_retry_from_nowhere_is_refused(desk: Desk):
    desk.run("gated", "--id", "g")
    ran = desk.plait("retry", "g", "--from", "nowhere", "--json")
    assert (ran.code, ran.problem["code"]) == (2, "CODE_REWIND_TARGET")


@both_ways
def test_what_the_engine_refuses_is_told(desk: Desk):
    desk.start("careful", "c")
    with desk.engine():
        desk.plait("cancel", "c", "--compensate")
        desk.end("c")
        ran = desk.plait("retry", "c", "--from", "take", "--json")
    assert (ran.code, ran.problem["code"]) == (2, "CODE_ROLLED_BACK")


# -- fork --------------------------------------------------------------------------------------------------------


@both_ways
def test_a_fork_goes_its_own_way_with_another_result(desk: Desk):
    desk.run("sums", "--id", "s", "--input", "3")
    with desk.engine():
        ran = desk.plait("fork", "s", "--at", "rounds/~2/add", "--set", "rounds/~1/add=100", "--id", "f", "--json")
        assert (ran.json["id"], ran.json["forked_from"], ran.json.get("taken", True)) == ("f", "s", True)
        assert desk.end("f")["output"] == 103
    assert desk.plait("show", "s", "--json").json["output"] == 6


def test_a_fork_at_an_event_number(desk: Desk):
    desk.run("gated", "--id", "g")
    assert desk.plait("fork", "g", "--at", "4", "--id", "f").out == f"run f: a fork of g; {KEPT}\n"
    assert len(desk.plait("events", "f", "--json").out.splitlines()) == 5
    assert desk.run("gated", "--id", "f").out == '"passed"\n'


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("--at", "99"), "kernel.bad_fork"),
        (("--at", "0"), "kernel.bad_fork"),
        (("--at", "nowhere"), "CODE_REWIND_TARGET"),
        (("--set", "gate"), "cli.bad_pair"),
        (("--set", "=1"), "cli.bad_pair"),
        (("--set", "gate=x"), "value.malformed"),
        (("--set", "nowhere=1"), "kernel.bad_edit"),
        (("--id", "g"), "kernel.run_exists"),
    ],
)
def test_a_fork_that_can_not_be_is_refused(desk: Desk, args: tuple[str, ...], code: str):
    desk.run("gated", "--id", "g")
    ran = desk.plait("fork", "g", *args, "--json")
    assert (ran.code, ran.problem["code"]) == (2, code)
    assert len(desk.plait("runs", "--json").json) == 1


# -- update, query -----------------------------------------------------------------------------------------------


@both_ways
def test_the_code_of_a_run_in_another_process_answers(desk: Desk):
    with desk.engine():
        desk.start("cart", "c")
        assert desk.plait("update", "c", "add", '"tea"', "--update-id", "u-1").out == "1\n"
        assert desk.plait("update", "c", "add", '"pen"', "--update-id", "u-1", "--json").json["answer"] == 1
        rejected = desk.plait("update", "c", "add", '"dictionary"')
        assert (rejected.code, "update `add` was rejected: dictionary is too long" in rejected.err) == (2, True)
        assert desk.plait("query", "c", "items", "--json").json["answer"] == ["tea"]
        assert "run c has no query `itmes`" in desk.plait("query", "c", "itmes").err
