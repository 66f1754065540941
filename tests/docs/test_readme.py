"""The story of the README, as printed: its program, killed for real."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import environment
from tests.docs.test_snippets import BLOCK, ROOT

README = (ROOT / "README.md").read_text()
APP = BLOCK.findall(README)[0]
STEP = 'receipt = await ctx.step("charge", charge, amount)\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(APP)
    return tmp_path


def app(folder: Path, code: int = 0) -> list[str]:
    """`python app.py`, and what it prints."""
    ran = subprocess.run(
        [sys.executable, "app.py"], cwd=folder, capture_output=True, text=True, timeout=50, check=False
    )
    assert ran.returncode == code, ran.stderr
    return ran.stdout.splitlines()


def plait(folder: Path, *args: str) -> str:
    command = [sys.executable, "-m", "plait.cli.main", *args]
    ran = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=50, check=True)
    return ran.stdout


def naps(folder: Path) -> bool:
    """Asked of the file itself: to start a command may take longer than the nap."""
    with contextlib.closing(sqlite3.connect(f"file:{folder / 'plait.db'}?mode=ro", uri=True)) as db:
        return db.execute("select count(*) from timers").fetchone()[0] > 0


def test_the_story_is_printed():
    for line in ("python app.py & sleep 3; kill -9 $!", "python app.py   ", "plait dev app.py", "os._exit(1)"):
        assert line in README
    assert 'if __name__ == "__main__":' in APP


def test_a_program_killed_while_it_waits_goes_on_and_does_not_charge_again(folder: Path):
    process = subprocess.Popen([sys.executable, "app.py"], cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("charging 42, idempotency key ")
    while not naps(folder):
        pass
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert app(folder) == ["receipt for 42"]
    assert "order-1" in plait(folder, "runs")
    assert "charge" in plait(folder, "show", "order-1")
    assert plait(folder, "events", "order-1")


def test_a_program_that_dies_before_the_result_is_on_disk_charges_again_with_the_same_key(folder: Path):
    assert STEP in APP
    other = APP.replace("order-1", "order-2").replace('cool down", 5', 'cool down", 0')
    (folder / "app.py").write_text(other.replace(STEP, f"{STEP}    import os; os._exit(1)\n"))
    [first] = app(folder, code=1)
    (folder / "app.py").write_text(other)
    second, receipt = app(folder)
    assert first == second
    assert first.startswith("charging 42, idempotency key order-2:")
    assert receipt == "receipt for 42"


def test_the_browser_shows_what_the_program_wrote(folder: Path):
    (folder / "app.py").write_text(APP.replace('cool down", 5', 'cool down", 0'))
    app(folder)
    command = [sys.executable, "-m", "plait.cli.main", "dev", "app.py", "--port", "0", "--json"]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=folder, env=environment() | {"PLAIT_DB": ""}, text=True, **pipes) as process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            assert "order-1" in plait(folder, "runs", "--db", url)
        finally:
            process.kill()


def test_the_picture_of_the_readme_is_there():
    picture = ROOT / "docs/run.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert os.path.getsize(picture) < 400_000
