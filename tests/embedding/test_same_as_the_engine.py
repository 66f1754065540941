"""The dialect's own tests, played by an embedded run: for every operation that it offers, nothing is different."""

import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .stage import hosting

_MODULES = (
    "delivery_order",
    "endings",
    "join",
    "losing_listeners",
    "loop",
    "messages",
    "misuse",
    "race",
    "retry_after_failure",
    "rollback",
    "sleep",
    "steps",
    "stubborn_code",
    "values",
    "versions",
    "worked_example",
)
_LOG_OR_ENGINE = (".history(", "Limits(", ".bundle", ".worker", "._log", "same_log", ".clock.set(")
"""A test that uses one of these looks into the log, which an embedded run has not, or at an engine."""


def cases() -> Iterator[Any]:
    for name in _MODULES:
        module = importlib.import_module(f"tests.dialects.code.test_{name}")
        for label, test in vars(module).items():
            if not label.startswith("test_") or not inspect.iscoroutinefunction(test):
                continue
            text = inspect.getsource(test)
            marked = [mark.name for mark in getattr(test, "pytestmark", ())]
            if inspect.signature(test).parameters or "deciding()" not in text or marked:
                continue
            if label == "test_named_handlers_need_no_workflow_code":
                continue  # an embedded run always has its code
            if not any(word in text for word in _LOG_OR_ENGINE):
                yield pytest.param(module, test, id=f"{name}-{label.removeprefix('test_')}")


@pytest.mark.parametrize(("module", "test"), list(cases()))
async def test_it_is_the_same(module: Any, test: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "deciding", hosting)
    for name in ("ledger", "broken"):  # what the module's own fixture does
        getattr(module, name, set[str]()).clear()
    await test()


def test_the_suite_is_no_small_one() -> None:
    assert len(list(cases())) > 100
