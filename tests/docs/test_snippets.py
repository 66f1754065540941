"""Every whole program in the README and the guides is run as one."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
SNIPPETS = [
    pytest.param(code, id=f"{page.relative_to(ROOT)}:{page.read_text()[:place].count(chr(10)) + 1}")
    for page in PAGES
    for place, code in ((found.start(), found[1]) for found in BLOCK.finditer(page.read_text()))
    if "asyncio.run(" in code or "def test_" in code
]


@pytest.mark.parametrize("code", SNIPPETS)
def test_an_example_of_the_documentation_runs(code: str, tmp_path: Path):
    (tmp_path / "app.py").write_text(code)
    ran = subprocess.run(
        [sys.executable, "app.py"], cwd=tmp_path, capture_output=True, text=True, timeout=50, check=False
    )
    assert ran.returncode == 0, ran.stderr
