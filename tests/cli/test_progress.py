"""What a person sees of a run on a terminal."""

import pytest

from plait.cli import progress
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis
from plait.kernel.view import Node, Reason, RunView

NOW = Millis(1_000)

VIEW = RunView(
    run_id="o-1",
    namespace="default",
    dialect="code",
    definition="order",
    status="running",
    edges=[],
    nodes=[
        Node(id="reserve", kind="step", label="reserve", status="completed", started_at=NOW, ended_at=NOW, attempts=1),
        Node(id="charge", kind="step", label="charge", status="retrying", started_at=NOW, attempts=2),
        Node(id="lookup", kind="join", label="lookup", status="running", started_at=NOW),
        Node(
            id="lookup/tax/tax",
            kind="step",
            label="tax",
            status="failed",
            parent="lookup",
            started_at=NOW,
            ended_at=NOW,
            error=ErrorInfo("task.failed", "no [red]tax[/red]", type="app:TaxError"),
        ),
        Node(id="wait", kind="sleep", label="wait", status="waiting", started_at=NOW),
    ],
)
WAITING = [
    Reason("retry", "retry 2 of 3 of `charge` at 10:02 (no answer)", "charge"),
    Reason("sleep", "sleep `wait` until 12:00", "wait"),
]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.usefixtures("terminal")
def test_on_a_terminal_a_run_is_a_tree(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "1")
    shown = progress.screen("o-1", "order")
    assert isinstance(shown, progress.LiveTree)
    shown.show(VIEW, WAITING)
    shown.close()
    err = capsys.readouterr().err
    assert "no [red]tax[/red]" in err
    assert "tax/tax" in err
    last = [line.rstrip() for line in err.splitlines()][-6:]
    assert "order" in last[0]
    assert "o-1" in last[0]
    assert "until 12:00" in last[-1]


@pytest.mark.usefixtures("terminal")
def test_a_terminal_that_can_nothing_gets_lines(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(progress.screen("o-1", "order"), progress.Lines)


def test_elsewhere_each_change_is_a_line_and_said_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    shown = progress.screen("o-1", "order")
    for _ in range(3):
        shown.show(VIEW, [*WAITING, Reason("rollback", "rolling back")])
    shown.close()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 6
    assert lines[0] == "  ✓ reserve  step  0 ms"
    assert lines[1].startswith("  ↻ charge  step  attempt 2  ")
    assert lines[1].endswith("  retry 2 of 3 at 10:02 (no answer)")
    assert lines[3] == "  ✗ lookup/tax/tax  step  0 ms  TaxError: no [red]tax[/red]"
    assert lines[5] == "  rolling back"
