"""The test file in `docs/testing.md` passes as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs" / "testing.md"


def test_the_example_passes(tmp_path: Path):
    [example] = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    (tmp_path / "test_order.py").write_text(example)
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "test_order.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "3 passed" in done.stdout, done.stdout
    said = re.search(r"`order` completed alike after each of .*", example)
    assert said is not None
    assert said[0] in done.stdout
