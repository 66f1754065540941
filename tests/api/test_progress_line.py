"""Progress as a line of a log, and back."""

import math

from hypothesis import given
from hypothesis import strategies as st

from plait.api.progress_line import Progress, progress_line, read_progress

numbers = st.integers(-(10**5), 10**5).map(float)


@given(numbers, st.none() | numbers, st.none() | st.text(min_size=1))
def test_what_was_reported_is_read_back(progress: float, total: float | None, message: str | None) -> None:
    found = Progress(progress, total, message)
    line = progress_line(found)
    assert line is not None
    assert read_progress(line) == found


def test_what_is_no_progress_is_no_line() -> None:
    assert progress_line(Progress(math.nan)) is None
    assert progress_line(Progress(1, math.inf, "x")) == "progress 1: x"
    for line in ("", "progress", "progress made", "progress 1 of many", "in progress 1 of 2"):
        assert read_progress(line) is None
