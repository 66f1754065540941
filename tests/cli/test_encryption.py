"""`plait keys master|data|rotate`, `plait erase`, and what `doctor`, `runs` and `show` say."""

import pytest

from plait.codec.key_ring import new_master_key
from tests.cli.support import Desk, run_plait

SUBJECT = "customer:42"


@pytest.fixture
def sealed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A database that is encrypted from its first run."""
    monkeypatch.setenv("PLAIT_ENCRYPTION_KEY", new_master_key())
    desk.run("hello", "--id", "h-1", "--input", '"Ada"', "--subject", SUBJECT)
    return desk


def test_a_master_key_can_be_used_as_it_is_printed(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    made = run_plait("keys", "master")
    assert "without it, nothing can be read" in made.err
    monkeypatch.setenv("PLAIT_ENCRYPTION_KEY", made.out.strip())
    assert desk.run("hello", "--id", "h-1", "--input", '"Ada"').out == '"hello Ada"\n'


def test_an_erasure_prints_a_receipt_and_the_run_says_that_it_was_erased(sealed: Desk):
    erased = sealed.plait("erase", "--subject", SUBJECT, "--json").json
    assert (erased["subject"], erased["runs"], erased["run_ids"]) == (SUBJECT, 1, ["h-1"])
    assert sealed.plait("erase", "--subject", SUBJECT, "--json").json == erased
    [row] = sealed.plait("runs", "--json").json
    assert (row["status"], row["erased_at"]) == ("completed", erased["at"])
    assert "erased" in sealed.plait("runs").out
    shown = sealed.plait("show", "h-1").out
    assert "its values can't be read any more" in shown
    assert "Ada" not in shown
    events = sealed.plait("events", "h-1", "--json")
    assert (events.code, events.problem["code"]) == (2, "codec.erased")
    assert sealed.plait("fork", "h-1", "--json").problem["code"] == "codec.erased"
    again = sealed.run("hello", "--id", "h-2", "--input", '"Ada"', "--subject", SUBJECT, "--json")
    assert again.problem["code"] == "codec.erased"


def test_an_erasure_asks_first(sealed: Desk):
    refused = sealed.plait("erase", "--subject", SUBJECT, input="n\n")
    assert refused.code != 0
    assert sealed.plait("show", "h-1", "--json").json["output"] == "hello Ada"
    done = sealed.plait("erase", "--subject", SUBJECT, input="y\n")
    assert done.code == 0
    assert f"erased          {SUBJECT}" in done.out
    assert "backups from before can still be read" in done.err


def test_keys_are_listed_and_rotated(sealed: Desk):
    before = sealed.plait("keys", "data", "--json").json
    made = sealed.plait("keys", "rotate", "--json").json
    after = sealed.plait("keys", "data", "--json").json
    assert {key["id"] for key in after["keys"]} - {key["id"] for key in before["keys"]} == {made["key"]}
    assert made["key"] in sealed.plait("keys", "data").out
    assert sealed.plait("show", "h-1", "--json").json["output"] == "hello Ada"


def test_the_doctor_says_whether_encryption_is_on_and_with_which_keys(sealed: Desk):
    facts = sealed.plait("doctor", "--json").json["facts"]
    assert facts["encryption"].startswith("on, AES-256-GCM; master key ")
    assert facts["encryption"].endswith("keys of subjects: 1, erased: 0")


def test_a_command_without_the_key_says_so(sealed: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("PLAIT_ENCRYPTION_KEY")
    ran = sealed.plait("runs", "--json")
    assert (ran.code, ran.problem["code"]) == (2, "codec.key_missing")
    assert "PLAIT_ENCRYPTION_KEY" in ran.problem["fix"]


def test_without_encryption_there_is_nothing_to_erase_or_rotate(desk: Desk):
    desk.run("hello", "--id", "h-1", "--input", '"Ada"')
    for command in (("erase", "--subject", SUBJECT), ("keys", "rotate"), ("keys", "data")):
        assert desk.plait(*command, "--json").problem["code"] == "codec.off"
    assert desk.plait("doctor", "--json").json["facts"]["encryption"] == "off"
