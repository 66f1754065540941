import pytest

from tests.cli.support import Desk, both_ways


def test_decided_ones_are_listed_by_status(desk: Desk):
    with desk.engine():
        for id, flags in (("a", []), ("b", ["--reject"]), ("c", [])):
            desk.start("asks", id)
            desk.plait("approve", id, "--by", "Ada", *flags)
        desk.start("asks", "d")

    def ids(*flags: str) -> list[str]:
        return [each["id"] for each in desk.plait("approvals", "--json", *flags).json]

    assert ids() == ["d:ok"]
    assert ids("--status", "approved") == ["c:ok", "a:ok"]
    assert ids("--status", "rejected") == ["b:ok"]
    assert ids("--status", "all") == ["d:ok", "c:ok", "b:ok", "a:ok"]
    assert ids("--status", "all", "--run", "b") == ["b:ok"]
    assert ids("--status", "all", "--limit", "1") == ["d:ok"]
    line = next(line for line in desk.plait("approvals", "--status", "all").out.splitlines() if "b:ok" in line)
    assert ("rejected" in line, "Ada" in line) == (True, True)


@both_ways
def test_a_long_list_is_cut_and_says_so(desk: Desk):
    for run in ("a", "b"):
        desk.start("asks", run)
    cut = desk.plait("approvals", "--limit", "1").out
    assert ("a:ok" in cut, "b:ok" in cut) == (True, False)
    assert "… and more: plait approvals --limit 5" in cut
    assert "… and more" not in desk.plait("approvals", "--limit", "2").out


@both_ways
def test_the_open_ones_are_listed_unless_asked_otherwise(desk: Desk):
    desk.start("asks", "a")
    [listed] = desk.plait("approvals", "--json").json
    assert (listed["id"], listed["status"], listed["votes"]) == ("a:ok", "open", [])
    assert "a:ok" in desk.plait("approvals").out
    assert desk.plait("approvals", "--status", "rejected").out == "no rejected approvals\n"


@both_ways
def test_one_is_shown_with_its_votes(desk: Desk):
    with desk.engine():
        desk.start("asks_the_board", "a")
        assert desk.plait("approve", "a", "--by", "ada", "--comment", "fine").out.startswith(
            "run a: `budget` approved (1 of 2); "
        )
        shown = desk.plait("approvals", "a:budget").out
        assert "status     open" in shown
        assert "approved   1 of 2" in shown
        assert "vote       ada approve 20" in shown
        assert "1 of 2" in desk.plait("approvals").out
        assert desk.plait("approve", "a", "--by", "eve", "--json").problem["code"] == "kernel.not_an_approver"
        assert "(2 of 2)" in desk.plait("approve", "a", "--by", "bob").out
        assert desk.end("a")["output"] == "ada, bob"
        late = desk.plait("approve", "a:budget", "--by", "ada")
        assert "approval a:budget was approved by ada, bob at 20" in late.err


@pytest.mark.parametrize("status", ["perhaps", ""])
def test_an_unknown_status_is_refused(desk: Desk, status: str):
    desk.run("nothing")
    ran = desk.plait("approvals", "--status", status)
    assert ran.code == 2
    assert "is not a status of approvals" in ran.err


@both_ways
def test_an_unknown_one_is_not_found(desk: Desk):
    desk.run("nothing")
    assert desk.plait("approvals", "nobody:ok", "--json").problem["code"] == "kernel.no_approval"
