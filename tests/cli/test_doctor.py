import os
import shutil
from collections import namedtuple

import apsw
import pytest

from plait.cli.findings import MANY, Report, examine_letters
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, RunId, TaskToken
from plait.kernel.store import DeadLetter
from tests.cli.support import Desk


def test_a_healthy_database(desk: Desk):
    desk.run("nothing")
    ran = desk.plait("doctor")
    assert ran.code == 0
    assert "no problems found" in ran.out
    assert "durability    FULL: nothing acknowledged is lost, not even by a power cut" in ran.out
    assert "shards        0 of 64 owned" in ran.out
    assert "engines       none at work" in ran.out


def test_for_programs(desk: Desk):
    desk.run("nothing")
    found = desk.plait("doctor", "--json").json
    assert (found["well"], found["problems"]) == (True, [])
    assert {"plait", "python", "store", "schema", "durability", "shards", "engines", "disk"} <= set(found["facts"])


def test_the_durability_is_that_of_the_url(desk: Desk):
    desk.run("nothing")
    facts = desk.plait("doctor", "--db", f"{desk.db}?synchronous=NORMAL", "--json").json["facts"]
    assert facts["durability"].startswith("NORMAL: ")


def test_a_living_engine_is_named_with_its_shards(desk: Desk):
    with desk.engine() as process:
        facts = desk.plait("doctor", "--json").json["facts"]
    assert facts["shards"] == "64 of 64 owned"
    assert f"-{process.pid}-" in facts["engines"]


def test_a_killed_engine_is_not_taken_for_a_living_one(desk: Desk):
    with desk.engine() as process:
        process.kill()
        process.wait()
    facts = desk.plait("doctor", "--json").json["facts"]
    assert facts["engines"] == "none at work"
    assert f"-{process.pid}-" in facts["left behind"]


def problems(desk: Desk) -> dict[str, dict[str, str]]:
    ran = desk.plait("doctor", "--json")
    assert ran.code == 1
    assert ran.json["well"] is False
    return {problem["code"]: problem for problem in ran.json["problems"]}


def test_a_database_that_every_user_can_read_is_a_problem(desk: Desk):
    desk.run("nothing")
    path = desk.folder / "plait.db"
    assert desk.plait("doctor").code == 0
    path.chmod(0o644)
    found = problems(desk)["doctor.permissions"]
    assert ("-rw-r--r--" in found["detail"], found["fix"]) == (True, "chmod 600 plait.db*")


def test_the_permissions_of_another_programs_database_are_not_judged(desk: Desk):
    path = desk.folder / "plait.db"
    other = apsw.Connection(str(path))
    other.execute("create table t (a)")
    other.close()
    path.chmod(0o644)
    assert list(problems(desk)) == ["store.not_plait"]


def test_a_missing_database_is_a_problem(desk: Desk):
    assert list(problems(desk)) == ["cli.no_database"]
    assert "✗ there is no database at plait.db" in desk.plait("doctor").out


def test_work_that_nobody_does_is_a_problem(desk: Desk):
    desk.start("waits", "w")
    assert desk.plait("doctor").code == 0
    desk.plait("message", "w", "go")
    desk.plait("message", "w", "go")
    found = problems(desk)
    assert list(found) == ["doctor.no_engine"]
    assert found["doctor.no_engine"]["detail"] == "waiting for one: 2 inputs"


def test_runs_whose_engine_was_killed_are_a_problem_until_there_is_another(desk: Desk):
    desk.start("waits", "w")
    _sql(desk, "update runs set awake = 1, waiting = null")  # as one that is killed leaves what it was doing
    found = problems(desk)
    assert list(found) == ["doctor.no_engine"]
    assert found["doctor.no_engine"]["detail"] == "waiting for one: 1 run under way"


def test_dead_letters_are_a_problem(desk: Desk):
    (desk.folder / "closed").touch()
    desk.run("gated", "--id", "g")
    found = problems(desk)["doctor.dead_letters"]
    assert found["title"] == "1 task used up all attempts"
    assert "plait dlq" in found["fix"]


def test_so_many_dead_letters_that_not_all_are_looked_at_are_counted_so():
    error = ErrorInfo("task.failed", "closed")
    letter = DeadLetter("g:gate", RunId("g"), "default", TaskToken("gate"), "step `gate`", 2, error, Millis(1))
    report = Report()
    examine_letters([letter] * MANY, report)
    assert report.facts == {"dead letters": "at least 10,000"}
    assert report.problems[0].what == "at least 10,000 tasks used up all attempts"


def test_blocked_runs_are_a_problem(desk: Desk):
    source = (desk.folder / f"{desk.module}.py").read_text()
    desk.start("waits", "w")
    desk.write(source.replace('"before"', '"earlier"'))
    desk.run("waits", "--id", "w")
    found = problems(desk)["doctor.blocked"]
    assert (found["title"], found["fix"]) == ("1 run is blocked: w", "plait why w")


def test_a_run_that_keeps_dying_is_a_problem(desk: Desk):
    desk.start("waits", "w")
    _sql(desk, "update runs set recoveries = 4")
    assert "doctor.suspect" in problems(desk)


def test_a_run_with_too_many_messages_is_a_problem(desk: Desk):
    desk.start("waits", "w")
    _sql(desk, "update runs set full = 1")
    assert "doctor.full" in problems(desk)


def test_a_deep_look_names_every_run_that_is_damaged(desk: Desk):
    for id in ("a", "b", "c", "d"):
        desk.run("nothing", "--id", id)
    ran = desk.plait("doctor", "--deep")
    assert (ran.code, "no problems found" in ran.out) == (0, True)
    assert "examined" in ran.out
    _sql(desk, "update runs set labels = '{' where id = 'b'")
    _sql(desk, "update log set at = at + 1 where run = (select number from runs where id = 'c')")
    ran = desk.plait("doctor", "--deep", "--json")
    assert ran.code == 1
    found = [(each["code"], each["title"]) for each in ran.json["problems"] if each["code"] == "store.damaged"]
    assert sorted(found) == [
        ("store.damaged", "the log of run c is damaged"),
        ("store.damaged", "the row of run b is damaged"),
    ]
    assert ran.json["facts"]["examined"].startswith("4 runs, ")


def test_a_clock_that_was_set_back_is_a_problem(desk: Desk):
    desk.start("waits", "w")
    _sql(desk, "update runs set created_at = created_at + 3600000")
    assert "in the future" in problems(desk)["doctor.clock"]["title"]


def test_inputs_that_a_living_engine_leaves_lying_are_a_problem(desk: Desk):
    with desk.engine():
        _sql(desk, "update shards set owner = null where shard >= 10")
        _sql(
            desk,
            "insert into inbox (run_id, shard, key, body, at) values ('nobody', 63, 'k', '{\"kind\":\"message\"}', 1)",
        )
        found = problems(desk)
    assert found["doctor.shards"]["title"] == "54 of 64 shards have no owner"
    assert "doctor.late" in found


def test_a_full_disk_is_a_problem(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    desk.run("nothing")
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9 - 5_000_000, 5_000_000))
    assert "only 5.0 MB are left" in problems(desk)["doctor.disk"]["title"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
def test_a_database_that_can_not_be_written_is_a_problem(desk: Desk):
    desk.run("nothing")
    (desk.folder / "plait.db").chmod(0o444)
    assert list(problems(desk)) == ["store.read_only"]


def _sql(desk: Desk, statement: str) -> None:
    """What would take days or a broken machine to come about."""
    db = apsw.Connection(str(desk.folder / "plait.db"))
    db.execute(statement)
    db.close()


def test_one_run_is_examined(desk: Desk):
    desk.run("nothing", "--id", "n")
    ran = desk.plait("doctor", "--run", "n", "--json")
    assert ran.json["facts"]["run"] == "n: completed, ended"
    assert desk.plait("doctor", "--run", "unknown", "--json").json["problems"][0]["code"] == "kernel.no_run"
