"""Figures of trials: what misses its limit fails the trial, and is shown all the same."""

from typing import Any, Literal

import pytest

from tests.support.figures import PROPERTY, Figures, Reporter

PHASES: tuple[Literal["setup", "call", "teardown"], ...] = ("setup", "call", "teardown")
LIMITS = {
    "at most": (lambda f: f.at_most("p99", 3.0, 3), lambda f: f.at_most("p99", 3.01, 3)),
    "at least": (lambda f: f.at_least("share", 99.0, 99, "%"), lambda f: f.at_least("share", 98.9, 99, "%")),
    "none": (lambda f: f.none("lost", 0), lambda f: f.none("lost", 1)),
    "spread": (lambda f: f.spread("resumed", [1, 2], 2), lambda f: f.spread("resumed", [1, 2, 3], 2)),
    "nothing": (lambda f: f.spread("resumed", []), lambda f: f.spread("resumed", [], 2)),
}


class Lines:
    """A terminal."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def ensure_newline(self) -> None:
        pass

    def write_line(self, line: str, /) -> None:
        self.lines.append(line)


@pytest.mark.parametrize("limit", LIMITS)
def test_what_misses_its_limit_fails_the_trial_and_is_kept(limit: str):
    meets, misses = LIMITS[limit]
    figures = Figures()
    meets(figures)
    assert all(figure["met"] for figure in figures.found)
    with pytest.raises(AssertionError):
        misses(figures)
    assert len(figures.found) > 1


def test_percentiles_are_of_what_was_measured():
    figures = Figures()
    figures.spread("resumed", [n / 100 for n in range(1, 101)])
    assert {figure["name"]: round(figure["value"], 2) for figure in figures.found} == {
        "resumed, times": 100,
        "resumed, p50": 0.51,
        "resumed, max": 1.0,
        "resumed, p99": 1.0,
    }


def test_a_trial_is_told_in_a_line_when_it_ends_and_in_a_table_at_the_end():
    figures = Figures()
    figures.note("runs", 10_000)
    figures.none("runs lost", 0)
    given: Any = [(PROPERTY, figures.found)]
    id, place = "tests/faults/test_x.py::test_it_holds[postgres]", ("tests/faults/test_x.py", 1, "")
    terminal = Lines()
    reporter = Reporter(terminal, long=True)
    for when in PHASES:
        reporter.pytest_runtest_logreport(pytest.TestReport(id, place, {}, "passed", None, when, user_properties=given))
    assert terminal.lines == ["it holds[postgres]: runs 10,000, runs lost 0"]
    reporter.pytest_terminal_summary()
    assert "it holds[postgres]" in terminal.lines[-1]
    assert "met" in terminal.lines[-1]
