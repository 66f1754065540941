"""The guide to AFL is true: its programs compile and are tidy, and its errors are what is said."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from plait.dialects.afl.language.compile import Compiled, compile_source
from plait.dialects.afl.language.formatting.format import format_source
from plait.dialects.afl.language.source_file import SourceFile
from tests.cli.support import run_plait

TEXT = (Path(__file__).parents[2] / "docs/guides/afl.md").read_text()
PROGRAMS = re.findall(r"^```afl\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("source", PROGRAMS)
def test_a_program_of_the_guide_compiles(source: str) -> None:
    found = compile_source([SourceFile("guide.afl", source)])
    assert isinstance(found, Compiled), found.diagnostics
    assert found.diagnostics == ()


@pytest.mark.parametrize("source", PROGRAMS)
def test_formatting_a_program_of_the_guide_keeps_what_it_says(source: str) -> None:
    tidy = format_source(SourceFile("guide.afl", source)).text
    assert tidy is not None
    assert format_source(SourceFile("guide.afl", tidy)).text == tidy


def test_the_errors_of_the_guide_are_what_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.afl").write_text(
        "namespace shop {\n"
        "    event facet Charge(amount: Long)\n"
        "    workflow Order(total: Long) andThen {\n"
        "        charge = Chrage(amount = $.totl)\n"
        "    }\n"
        "}\n"
    )
    [shown] = re.findall(r"^```text\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    assert run_plait("afl", "check", "shop.afl").out == shown


def test_the_first_program_runs_by_the_command_that_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [line] = re.findall(r"^plait (afl run .*?)(?:  +#.*)?$", TEXT, re.MULTILINE)
    (tmp_path / "shop.afl").write_text(PROGRAMS[0])
    (tmp_path / "app.py").write_text(re.findall(r"^```python\n(HANDLERS.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)[0])
    ran = run_plait(*shlex.split(line))
    assert ran.code == 0, ran.err
    assert ran.json == {"payment": "p1", "cost": 1212}
