"""Snippets survive being pasted into `python -m asyncio`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pasting import paste_error
from tests.docs.test_snippets import BLOCK, PAGES, ROOT

SNIPPETS = [
    pytest.param(found[1], id=f"{page.relative_to(ROOT)}:{page.read_text()[: found.start()].count(chr(10)) + 1}")
    for page in PAGES
    for found in BLOCK.finditer(page.read_text())
    if page.name in ("code.md", "client.md")
]


@pytest.mark.parametrize("code", SNIPPETS)
def test_a_snippet_can_be_pasted_into_a_prompt(code: str):
    assert paste_error(code) == ""


def test_snippets_run_in_a_prompt(tmp_path: Path):
    """The first workflow, and one that catches an exception of its own."""
    blocks = [found[1] for found in BLOCK.finditer((ROOT / "docs/guides/code.md").read_text())]
    [caught] = [block for block in blocks if "class CardDeclined" in block]
    ran = subprocess.run(
        [sys.executable, "-m", "asyncio"],
        input=f"{blocks[0]}\n\nprint(handle.id, 'ended')\nfrom plait.testing import sim\n{caught}\n\n",
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert "Error" not in ran.stderr, ran.stderr
    assert "order-1 ended" in ran.stdout


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("x = await f()\n", False),
        ("async def f():\n    return 1\n\nawait f()\n", False),
        ("async def f():\n    return 1\nawait f()\n", True),
        ("async def f():\n    x = 1\n\n    return x\n", True),
    ],
)
def test_a_prompt_ends_a_block_at_an_empty_line(text: str, error: bool):
    assert bool(paste_error(text)) is error
