"""`events --follow` and `logs`: what comes while one looks."""

import json
import signal

from tests.cli.support import Desk, both_ways, read_until


@both_ways
def test_events_are_followed_to_the_end_of_the_run(desk: Desk):
    with desk.engine():
        desk.start("waits", "w")
        with desk.following("events", "w", "--json") as process:
            read_until(process.stdout, '"at":"go"')
            desk.plait("message", "w", "go", "7")
            out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert json.loads(out.splitlines()[-1])["data"] == {"output": {"got": 7}}


@both_ways
def test_following_a_run_that_has_ended_prints_all_and_stops(desk: Desk):
    desk.run("hello", "--id", "h", "--input", '"Ada"')
    assert desk.plait("events", "h", "--follow").out == desk.plait("events", "h").out
    assert desk.plait("events", "h", "-f", "--after", "99").out == "no events after 99\n"


@both_ways
def test_following_stops_at_the_limit(desk: Desk):
    with desk.engine():
        desk.start("waits", "w")
        assert len(desk.plait("events", "w", "--follow", "--limit", "2").out.splitlines()) == 2


@both_ways
def test_interrupted_it_leaves_quietly(desk: Desk):
    with desk.engine():
        desk.start("waits", "w")
        with desk.following("events", "w") as process:
            read_until(process.stdout, "run.started")
            process.send_signal(signal.SIGINT)
            _, err = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in err


@both_ways
def test_logs_are_what_the_steps_said(desk: Desk):
    desk.run("talks", "--id", "t")
    lines = desk.plait("logs", "t", "--follow").out.splitlines()
    assert [line.split("  ", 1)[1] for line in lines] == ["chat  I begin", "chat  this is odd", "more  and more"]


@both_ways
def test_logs_of_one_operation_for_programs(desk: Desk):
    desk.run("talks", "--id", "t")
    desk.plait("logs", "t", "--follow")
    found = [json.loads(line) for line in desk.plait("logs", "t", "--node", "chat", "--json").out.splitlines()]
    assert [(line["node"], line["attempt"], line["level"], line["text"]) for line in found] == [
        ("chat", 1, "info", "I begin"),
        ("chat", 1, "warning", "this is odd"),
    ]
    assert desk.plait("logs", "t", "--node", "nowhere").out == "no log lines\n"


@both_ways
def test_logs_are_followed(desk: Desk):
    with desk.engine():
        desk.start("talks_later", "t")
        with desk.following("logs", "t") as process:
            read_until(process.stdout, "this is odd")
            desk.plait("message", "t", "go")
            out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert "more  and more" in out


@both_ways
def test_logs_of_an_unknown_run(desk: Desk):
    desk.run("nothing")
    assert desk.plait("logs", "nobody", "--json").problem["code"] == "kernel.no_run"
