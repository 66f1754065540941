"""The scripts in the guide run as printed."""

import re
from pathlib import Path
from typing import Any

from plait.kernel import values
from plait.scripts.javascript import JavaScriptPool

GUIDE = Path(__file__).parents[3] / "docs/guides/javascript.md"
ORDER = {"customer": {"name": "Ada"}, "items": [{"sku": "tea", "price": 3}, {"sku": "pot", "price": 4}]}


async def test_the_scripts_of_the_guide_run() -> None:
    scripts = re.findall(r"^```(?:js|ts)\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    found: list[Any] = []
    async with JavaScriptPool(1) as pool:
        for script in scripts:
            await pool.compile(script)
            found.append(await pool.run(script, values.encode(ORDER)))
    assert [each.value for each in found] == [{"total": 7}, "tea"]
    assert found[0].printed == ("order of Ada",)
