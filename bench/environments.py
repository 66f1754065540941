"""Environments of the peers, made on demand and kept.

Peers must not share dependencies with Plait or with each other, so each has its own under ``bench/.venvs``. An
environment remembers what was asked of it and with which Python it was made, and is made again when that changes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from bench.catalog import Environment
from bench.interpreter import identity
from bench.unavailable import UnavailableError

ROOT = Path(__file__).parent / ".venvs"
INSTALL_SECONDS = 600


def interpreter(environment: Environment | None) -> str:
    """The Python to run a subject with; installs what is missing first."""
    if environment is None:
        return sys.executable
    folder = ROOT / environment.name
    wanted = "\n".join((identity(), *environment.python, *environment.npm)) + "\n"
    stamp = folder / "installed.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        _install(environment, folder)
        stamp.write_text(wanted)
    return str(_python(folder))


def _install(environment: Environment, folder: Path) -> None:
    uv = shutil.which("uv")
    python = str(_python(folder))
    if uv:
        _run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder))
        _run(uv, "pip", "install", "--quiet", "--python", python, *environment.python)
    else:
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
        _run(python, "-m", "pip", "install", "--quiet", *environment.python)
    if environment.npm:
        # Install scripts are not needed by a packaged server, and some report home.
        _run("npm", "install", "--silent", "--ignore-scripts", "--prefix", str(folder), *environment.npm)


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{command[0]}: {error}") from error
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
        raise UnavailableError(f"{Path(command[0]).name} {command[1]} failed: {lines[-1]}")
