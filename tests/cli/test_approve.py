import pytest

from tests.cli.support import Desk, both_ways


@both_ways
def test_approve_lists_what_is_asked(desk: Desk):
    desk.start("asks", "a")
    [asked] = desk.plait("approve", "--json").json
    assert (asked["id"], asked["run"], asked["title"], asked["by"]) == ("a:ok", "a", "ok", "boss")
    assert "a:ok" in desk.plait("approve").out


@both_ways
def test_nothing_asked_is_said(desk: Desk):
    desk.run("nothing")
    assert desk.plait("approve").out == "no pending approvals\n"
    assert desk.plait("approve", "--json").json == []


@pytest.mark.parametrize(("name", "late"), [("a", "kernel.no_approval"), ("a:ok", "kernel.approval_decided")])
def test_an_approval_is_decided_by_its_run_or_its_id(desk: Desk, name: str, late: str):
    with desk.engine():
        desk.start("asks", "a")
        ran = desk.plait("approve", name, "--by", "Ada", "--comment", "fine")
        assert ran.out == "run a: `ok` approved; an engine has taken it\n"
        assert desk.end("a")["output"] == {"approved": True, "by": "Ada", "comment": "fine"}
    assert desk.plait("approve", name, "--json").problem["code"] == late


def test_reject_says_no(desk: Desk):
    desk.start("asks", "a")
    assert desk.plait("approve", "a", "--reject", "--json").json["taken"] is False
    assert desk.run("asks", "--id", "a", "--json").json["output"]["approved"] is False


@both_ways
def test_a_vote_is_handed_to_someone_else(desk: Desk):
    with desk.engine():
        desk.start("asks_the_board", "a")
        said = desk.plait("approve", "a", "--by", "ada", "--delegate-to", "dan", "--comment", "on leave").out
        assert said.startswith("run a: `budget` delegated to dan")
        shown = desk.plait("approvals", "a:budget").out
        assert "delegated  ada to dan 20" in shown
        refused = desk.plait("approve", "a", "--by", "ada", "--json").problem
        assert refused["code"] == "kernel.not_an_approver"
        desk.plait("approve", "a", "--by", "dan")
        desk.plait("approve", "a", "--by", "bob")
        assert desk.end("a")["output"] == "dan, bob"


@both_ways
def test_of_several_approvals_one_must_be_named(desk: Desk):
    desk.start("asks_twice", "a")
    ran = desk.plait("approve", "a")
    assert ran.code == 2
    assert "run a waits for 2 approvals. To fix: name one: a:both/a/first, a:both/b/second" in ran.err
    assert desk.plait("approve", "a:both/b/second").code == 0


@both_ways
def test_what_is_not_asked_is_refused(desk: Desk):
    desk.run("nothing", "--id", "n")
    assert desk.plait("approve", "n", "--json").problem["code"] == "kernel.no_approval"
    assert desk.plait("approve", "nobody:ok", "--json").problem["code"] == "kernel.no_run"


@both_ways
def test_a_form_is_filled_in(desk: Desk):
    with desk.engine():
        desk.start("asks_how_much", "a")
        [asked] = desk.plait("approve", "--json").json
        assert (asked["form"]["maximum"], asked["evidence"]) == (900, {"asked": 700})
        assert desk.plait("approve", "a", "--data", "1000", "--json").problem["code"] == "kernel.bad_form"
        assert desk.plait("approve", "a", "--data", "700").code == 0
        assert desk.end("a")["output"] == 700
