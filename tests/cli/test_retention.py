"""`plait retention`: shows and sets how long ended runs are kept."""

from tests.cli.support import Desk

DAY = 86_400_000


def test_everything_is_kept_unless_rules_say_otherwise(desk: Desk):
    desk.run("hello", "--input", '"Ada"')
    assert "everything is kept for good" in desk.plait("retention").out
    made = desk.plait("retention", "set", "--completed", "30d", "--failed", "12h", "--audit", "365d", "--json").json
    expected = {"completed": 30 * DAY, "failed": DAY // 2, "audit": 365 * DAY}
    assert made == expected
    shown = desk.plait("retention").out
    assert "removed 30 d 0 h after their end" in shown
    assert "kept for good" in shown
    assert desk.plait("retention", "show", "--json").json == made
    assert "kept for good" in desk.plait("retention", "show", "--namespace", "acme").out
    assert "everything is kept for good" in desk.plait("retention", "set").out


def test_a_time_that_is_none_is_refused(desk: Desk):
    desk.run("hello", "--input", '"Ada"')
    refused = desk.plait("retention", "set", "--completed", "a month", "--json")
    assert refused.problem["code"] == "cli.bad_age"
    assert "everything is kept for good" in desk.plait("retention").out
