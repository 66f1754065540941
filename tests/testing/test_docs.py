"""The examples in `docs/testing.md` are run as they stand there."""

import asyncio
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from . import shop

DOCS = Path(__file__).parents[2] / "docs" / "testing.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_works(number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setitem(sys.modules, "shop", shop)
    shop.sent.clear()
    names: dict[str, Any] = {}
    exec(EXAMPLES[number], names)
    for name, found in names.items():
        if name.startswith("test_"):
            asyncio.run(found()) if inspect.iscoroutinefunction(found) else found()
    if "report" in names:
        assert capsys.readouterr().out.startswith("`order` completed alike after each of ")
