"""The guide to goals is true: its snippets run, from top to bottom, and its tables are complete."""

import ast
import inspect
import json
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

import plait.dialects.goals
from plait.dialects.goals.running.events import GoalsEvent
from plait.dialects.goals.running.tasks import MAP_OUTPUTS, MEMO, PREPARE_STEP
from plait.dialects.goals.steps.reading import read_step
from plait.dialects.goals.steps.scripts import check_scripts
from plait.scripts.languages import Languages

GUIDE = Path(__file__).parents[2] / "docs/guides/goals.md"
TEXT = GUIDE.read_text()
SOURCES = [
    *Path(plait.dialects.goals.__file__).parent.rglob("*.py"),
]


def blocks(language: str) -> list[tuple[int, str]]:
    """The blocks of the guide in that language, with the lines they begin at."""
    found = re.finditer(rf"^```{language}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    return [(TEXT.count("\n", 0, match.start(1)), match[1]) for match in found]


@pytest.fixture
def module() -> Iterator[types.ModuleType]:
    """The blocks are one module, as the snippets of a program would be."""
    made = types.ModuleType("the_guide_to_goals")
    sys.modules[made.__name__] = made
    yield made
    del sys.modules[made.__name__]


@pytest.mark.costly
async def test_every_snippet_runs(module: types.ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        for line, source in blocks("python"):
            code = compile("\n" * line + source, str(GUIDE), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            result = eval(code, module.__dict__)
            if inspect.isawaitable(result):
                await result
    finally:
        await module.opened.aclose()


async def test_every_step_in_json_can_be_registered() -> None:
    languages = Languages()
    steps = [read_step(json.loads(source)) for _, source in blocks("json")]
    assert steps
    for step in steps:
        await check_scripts(step, languages)
    await languages.close()


def test_every_error_code_is_in_the_table() -> None:
    sources = "".join(path.read_text() for path in SOURCES)
    raised = set(re.findall(r'"(goals\.[a-z_]+)"', sources))
    raised |= {f"goals.{code}" for code in re.findall(r'super\(\).__init__\(\s*"([a-z_]+)"', sources)}
    raised -= {PREPARE_STEP, MAP_OUTPUTS, MEMO}  # kinds of tasks
    described = set(re.findall(r"`(goals\.[a-z_]+)`", TEXT[TEXT.index("## Error codes") :]))
    assert described == raised


def test_every_event_is_in_the_table() -> None:
    names = {event.__struct_config__.tag for event in GoalsEvent.__args__}
    described = set(re.findall(r"`([a-z_.]+)`", TEXT[TEXT.index("## Events") : TEXT.index("## What is guaranteed")]))
    assert names <= described


def test_links_within_the_guide_lead_somewhere() -> None:
    headings = re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", TEXT)) <= anchors


def test_links_to_other_pages_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", TEXT):
        assert (GUIDE.parent / link).exists(), link
