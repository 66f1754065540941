"""Words, tables and documents."""

import io
import os
import socket
import sys

import pytest

from plait.cli import words
from plait.cli.leases import alive
from plait.cli.options import read_edits
from plait.cli.output import emit, table
from plait.cli.run_view import line
from plait.kernel.agent_totals import AgentTotals
from plait.kernel.census import Owner
from plait.kernel.errors import ErrorInfo, InvalidInput
from plait.kernel.failures import describe
from plait.kernel.ids import Millis
from plait.kernel.view import Node


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (-5, "0 ms"),
        (7, "7 ms"),
        (1_500, "1.5 s"),
        (61_000, "1 min 1 s"),
        (3_720_000, "1 h 2 min"),
        (200_000_000, "2 d 7 h"),
    ],
)
def test_durations(ms: int, text: str):
    assert words.duration(ms) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "0 s ago"), (90_000, "1 min ago"), (7_200_000, "2 h ago"), (10**9, "11 d ago"), (-1, "in the future")],
)
def test_how_long_ago(ms: int, text: str):
    now = Millis(10**12)
    assert words.ago(Millis(now - ms), now) == text


def test_an_exception_is_named_by_its_class_once():
    assert words.failure(ErrorInfo("task.failed", "no", type="builtins:ValueError")) == "ValueError: no"
    assert words.failure(ErrorInfo("step.exhausted", "no", kind="exhausted")) == "no"


def test_columns_that_may_be_cut_give_way_first(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("COLUMNS", "60")
    table(("ID", "STATUS", "ERROR"), [("i" * 30, "completed", "e" * 100)], fold=("ID",), cut=("ERROR",))
    header, line = capsys.readouterr().out.splitlines()
    assert len(line.rstrip()) <= 60
    assert line.startswith("i" * 30 + "  completed  e")
    assert line.rstrip().endswith("…")
    assert header.split() == ["ID", "STATUS", "ERROR"]


def test_through_a_pipe_an_id_stays_in_one_piece(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.delenv("COLUMNS", raising=False)
    id = "01a1ef75-02ce-7800-ac1e-fffefe492b7d:inner:cf8268d50091c6cc"
    table(("RUN", "WHY"), [(id, "the card was declined " * 5)], fold=("RUN", "WHY"))
    assert f"{id}  the card was declined" in capsys.readouterr().out


def test_json_stays_json_where_the_terminal_knows_no_unicode(monkeypatch: pytest.MonkeyPatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True)
    monkeypatch.setattr(sys, "stdout", out)
    emit({"name": "é🍵"})
    out.seek(0)
    assert out.read() == '{\n  "name": "\\u00e9\\ud83c\\udf75"\n}\n'


def test_edits_are_cut_at_the_first_place_that_leaves_json():
    assert read_edits(["a=1", 'b="x=y"', "c=d=2"]) == {"a": 1, "b": "x=y", "c=d": 2}
    with pytest.raises(InvalidInput, match="the new result of `a`"):
        read_edits(["a=b"])


def test_an_owner_on_this_machine_is_asked_whether_it_lives():
    here = f"{socket.gethostname()}-{os.getpid()}-0a1b2c3d"
    gone = f"{socket.gethostname()}-{2**22 + 1}-0a1b2c3d"
    later = Millis(words.now() + 10_000)
    assert alive(Owner(here, 64, later), words.now())
    assert not alive(Owner(here, 64, Millis(0)), words.now())
    assert not alive(Owner(gone, 64, later), words.now())
    assert alive(Owner("other-host-1-0a1b2c3d", 64, later), words.now())


def test_a_failure_is_told_with_its_parts_notes_and_cause():
    group = ExceptionGroup("two orders", [ValueError("no sku"), KeyError("price")])
    group.add_note("of shop 7")
    group.__cause__ = OSError("disk full")
    assert words.failure(describe(group)) == (
        "ExceptionGroup: two orders (2 sub-exceptions) (of shop 7; ValueError: no sku; KeyError: 'price'), "
        "because of OSError: disk full"
    )


def test_a_node_without_a_path_whose_id_says_nothing_is_called_by_its_label():
    block = Node(id="1a72380258e6", kind="AndThen", label="andThen 1", status="completed", parent="32d76529307e")
    assert line(block, None, Millis(0)).plain.startswith("✓ andThen 1  AndThen")


def test_a_price_that_is_not_known_is_said():
    assert words.model_use(AgentTotals(2, 1234, None)) == "2 attempts, 1,234 tokens, cost unknown"
    assert words.model_use(AgentTotals(1, 1, 0.0039)) == "1 attempt, 1 token, 0.003900 USD"
    assert words.model_use(AgentTotals(1, 0, 0.0)) == "1 attempt", "under way"
