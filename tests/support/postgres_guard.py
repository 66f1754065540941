"""Cleans up after one test server: waits until the process that started it closes our standard input, or dies.

Runs as a script, given the server's folder; ends what may still run there, and removes the folder.
"""

import contextlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path

END_SECONDS = 10


def main(home: Path) -> None:
    sys.stdin.read()
    end_server(home / "data" / "postmaster.pid")
    shutil.rmtree(home, ignore_errors=True)


def end_server(pid_file: Path) -> None:
    """PostgreSQL removes its pid file as the last thing it does."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        os.kill(int(pid_file.read_text().split()[0]), signal.SIGQUIT)
        deadline = time.monotonic() + END_SECONDS
        while pid_file.exists() and time.monotonic() < deadline:
            time.sleep(0.02)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
