"""A package that is not installed is an error that says what to install."""

import sys
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from plait.errors import MissingExtra
from plait.extras import Extra, extra

ROOT = Path(__file__).parents[2]


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "httpcore", None)
    with pytest.raises(MissingExtra) as caught, extra("http", "HTTP"):
        import httpcore  # noqa: F401
    assert str(caught.value) == (
        "HTTP needs the extra `http` of Plait: the package httpcore is not installed. "
        "To fix: pip install 'plait[http]' [plait.missing_extra]"
    )
    assert caught.value.status == 501


def test_another_way_out_is_named_too():
    error = MissingExtra("otel", "a trace", "opentelemetry", instead="unset the OTEL_* variables")
    assert error.fix == "pip install 'plait[otel]', or unset the OTEL_* variables"


def test_a_module_of_ours_that_is_missing_is_a_bug():
    with pytest.raises(ModuleNotFoundError), extra("http", "HTTP"):
        import plait.no_such_module  # type: ignore[import-not-found] # noqa: F401


def test_what_else_goes_wrong_is_not_touched():
    with pytest.raises(ValueError, match="broken"), extra("http", "HTTP"):
        raise ValueError("broken")


def test_the_extras_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {*get_args(Extra), "all"} == set(project["optional-dependencies"])
