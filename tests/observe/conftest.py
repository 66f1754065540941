import io
import json
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from plait.observe import logs


class Output:
    """Where the logs of a test go."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    @property
    def line(self) -> dict[str, Any]:
        [line] = self.lines
        return line


@pytest.fixture
def untouched_logging(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test sets up for the whole process is taken back."""
    # pytest's own handler raises what can't be formatted; ours is the one to be tested
    monkeypatch.setattr(type(caplog.handler), "handleError", lambda *_: None)
    root, show = logging.getLogger(), warnings.showwarning
    handlers, level = root.handlers[:], root.level
    yield
    logging.captureWarnings(False)
    warnings.showwarning = show
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


@pytest.fixture
def output(untouched_logging: None) -> Output:
    """Logs as JSON."""
    out = Output()
    logs.configure("json", "info", out.stream)
    return out
