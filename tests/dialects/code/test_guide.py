"""The guide is true: its snippets run, from top to bottom, and its tables are complete."""

import ast
import inspect
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

import plait.dialects.code

GUIDE = Path(__file__).parents[3] / "docs/guides/code.md"
TEXT = GUIDE.read_text()
SOURCE = Path(plait.dialects.code.__file__).parent


def blocks() -> list[tuple[int, str]]:
    """The Python blocks of the guide, with the lines they begin at."""
    found = re.finditer(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    return [(TEXT.count("\n", 0, match.start(1)), match[1]) for match in found]


@pytest.fixture
def module() -> Iterator[types.ModuleType]:
    """The blocks are one module, as the snippets of a program would be."""
    made = types.ModuleType("the_guide")
    sys.modules[made.__name__] = made
    yield made
    del sys.modules[made.__name__]


async def test_every_snippet_runs(module: types.ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line, source in blocks():
        code = compile("\n" * line + source, str(GUIDE), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = eval(code, module.__dict__)
        if inspect.isawaitable(result):
            await result


def test_every_error_code_is_in_the_table() -> None:
    sources = "".join(path.read_text() for path in SOURCE.glob("*.py"))
    raised = {f"CODE_{code}" for code in re.findall(r'WorkflowCodeError\(\s*"([A-Z_]+)"', sources)}
    raised |= set(re.findall(r'"(CODE_[A-Z_]+)"', sources))
    described = set(re.findall(r"^\| `(CODE_[A-Z_]+)` \|", TEXT, re.MULTILINE))
    assert described == raised


def test_links_within_the_guide_lead_somewhere() -> None:
    headings = re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", TEXT)) <= anchors
