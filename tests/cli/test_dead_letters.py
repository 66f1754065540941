from contextlib import closing

import apsw
import pytest

from tests.cli.support import Desk, both_ways


def _failed(desk: Desk) -> None:
    (desk.folder / "closed").touch()
    desk.run("gated", "--id", "g")
    (desk.folder / "closed").unlink()


@both_ways
def test_dead_letters_are_listed(desk: Desk):
    desk.run("nothing")
    assert desk.plait("dlq").out == "no dead letters\n"
    _failed(desk)
    [letter] = desk.plait("dlq", "--json").json
    assert (letter["id"], letter["run"], letter["attempts"], letter["status"]) == ("g:gate", "g", 2, "pending")
    assert "ValueError: closed is in the way" in desk.plait("dlq", "list").out


def test_a_long_error_is_cut_in_lists(desk: Desk):
    _failed(desk)
    with closing(apsw.Connection(str(desk.folder / "plait.db"))) as db:
        for rows in ("dead_letters", "runs"):
            db.execute(f"update {rows} set error = replace(error, 'closed is in the way', hex(zeroblob(10000)))")
    for listed in (desk.plait("dlq").out, desk.plait("runs").out):
        assert "000…" in listed
        assert len(listed) < 2_000
    assert desk.plait("dlq", "show", "g:gate").out.count("0") > 20_000


@both_ways
def test_a_long_list_is_cut_and_says_so(desk: Desk):
    (desk.folder / "closed").touch()
    for run in ("a", "b", "c"):
        desk.run("gated", "--id", run)
    cut = desk.plait("dlq", "list", "--limit", "2")
    assert "a:gate" in cut.out
    assert "c:gate" not in cut.out
    assert "… and more: plait dlq list --limit 10" in cut.out + cut.err
    assert [letter["run"] for letter in desk.plait("dlq", "list", "--limit", "2", "--json").json] == ["a", "b"]
    whole = desk.plait("dlq", "list", "--limit", "3")
    assert "… and more" not in whole.out + whole.err


def test_those_of_a_node_are_found_behind_pages_of_others(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("plait.cli.dead_letters._PAGE", 1)
    (desk.folder / "closed").touch()
    for run in ("a", "b", "c"):
        desk.run("gated", "--id", run)
    with closing(apsw.Connection(str(desk.folder / "plait.db"))) as db:
        db.execute("update dead_letters set token = 'other', label = 'step `other`' where run_id in ('a', 'b')")
    found = desk.plait("dlq", "list", "--node", "gate", "--limit", "1", "--json").json
    assert [letter["run"] for letter in found] == ["c"]


@both_ways
def test_one_is_shown_with_its_error_and_what_to_do(desk: Desk):
    _failed(desk)
    ran = desk.plait("dlq", "show", "g:gate")
    assert "ValueError: closed is in the way" in ran.out
    assert "→ when the cause is gone: plait dlq retry g:gate" in ran.out
    assert desk.plait("dlq", "show", "g:gate", "--json").json["task"] == "step `gate`"


@both_ways
def test_retry_lets_the_run_go_on(desk: Desk):
    _failed(desk)
    with desk.engine():
        assert desk.plait("dlq", "retry", "g:gate").out == f"dead letter g:gate: retry; {desk.heard}\n"
        assert desk.end("g")["output"] == "passed"
    assert desk.plait("dlq", "--json").json == []
    assert [letter["status"] for letter in desk.plait("dlq", "list", "--all", "--json").json] == ["retried"]


def test_without_an_engine_it_is_kept(desk: Desk):
    _failed(desk)
    assert desk.plait("dlq", "retry", "g:gate", "--json").json["taken"] is False
    assert desk.run("gated", "--id", "g").out == '"passed"\n'


@both_ways
def test_discard_lets_a_stuck_rollback_go_on(desk: Desk):
    (desk.folder / "stuck").touch()
    with desk.engine():
        desk.start("careful", "c")
        desk.plait("cancel", "c", "--compensate")
        letter = _wait_for_letter(desk)
        assert "plait dlq" in desk.plait("why", "c").out
        assert desk.plait("dlq", "discard", letter, "--json").json.get("taken", True) is True
        assert desk.end("c")["status"] == "cancelled"
    assert not (desk.folder / "undone").exists()


def _wait_for_letter(desk: Desk) -> str:
    """Looks until it is there; the test's time limit is the end of patience."""
    while not (found := desk.plait("dlq", "--json").json):
        pass
    return found[0]["id"]


def test_an_unknown_or_settled_letter_is_refused(desk: Desk):
    _failed(desk)
    assert desk.plait("dlq", "retry", "g:nothing", "--json").problem["code"] == "kernel.no_dead_letter"
    assert desk.plait("dlq", "show", "g:nothing", "--json").problem["code"] == "kernel.no_dead_letter"
    desk.plait("retry", "g")
    desk.run("gated", "--id", "g")
    ran = desk.plait("dlq", "discard", "g:gate", "--json")
    assert (ran.code, ran.problem["code"]) == (2, "kernel.dead_letter_settled")


@both_ways
def test_those_of_a_run_and_a_node_are_listed_and_settled_together(desk: Desk):
    _failed(desk)
    assert [letter["id"] for letter in desk.plait("dlq", "list", "--run", "g", "--node", "gate", "--json").json] == [
        "g:gate"
    ]
    assert desk.plait("dlq", "list", "--run", "g", "--node", "other", "--json").json == []
    assert desk.plait("dlq", "list", "--run", "another", "--json").json == []
    assert desk.plait("dlq", "retry").code != 0
    with desk.engine():
        assert "dead letter g:gate: retry" in desk.plait("dlq", "retry", "--run", "g").out
        assert desk.end("g")["output"] == "passed"
