"""The processes that tests fork are as those that Python starts."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support import processes
from tests.support.processes import run, start

PROBE = """
import os, random, sys, uuid
print(os.getpid(), os.getcwd(), os.environ.get("COLOUR"), *sys.argv[1:], sep="\\n")
print(random.random(), uuid.uuid4())
sys.exit(3)
"""

LEAVES_MUCH_BEHIND = """
import atexit, threading

class Garbage:
    def __init__(self):
        self.itself = self

    def __del__(self):
        print("garbage")

def wait():
    threading.main_thread().join()
    print("thread")

left = Garbage()
atexit.register(print, "exit function")
threading.Thread(target=wait).start()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "probe.py").write_text(PROBE)
    return tmp_path


def test_it_has_the_folder_the_environment_and_the_arguments_that_it_was_given(folder: Path):
    ran = run("probe", "a", "b c", cwd=folder, env={"COLOUR": "red"})
    pid, *said, _ = ran.stdout.splitlines()
    assert said == [str(folder), "red", "a", "b c"]
    assert int(pid) != os.getpid()
    assert (ran.returncode, ran.stderr) == (3, "")


@pytest.mark.parametrize("given", ["", "1"])
def test_it_keeps_compiled_modules_unless_it_is_told_not_to(folder: Path, given: str):
    (folder / "uses.py").write_text("import probe")
    run("uses", cwd=folder, env={"PYTHONDONTWRITEBYTECODE": given})
    assert (folder / "__pycache__").exists() == (not given)


def test_no_two_draw_the_same_numbers(folder: Path):
    first, second = (run("probe", cwd=folder).stdout.splitlines()[-1].split() for _ in range(2))
    assert not set(first) & set(second)


def test_it_reads_and_writes_through_its_pipes():
    with start("json.tool", "--compact", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write('{"a": 1}')
        assert process.communicate() == ('{"a":1}\n', "")
    assert process.returncode == 0


def test_an_error_is_an_exit_code_and_a_traceback():
    ran = run("tests.support.no_such_module")
    assert ran.returncode == 1
    assert ran.stderr.endswith("No module named tests.support.no_such_module\n")


def test_it_ends_with_its_threads_its_exit_functions_and_its_garbage(tmp_path: Path):
    (tmp_path / "ends.py").write_text(LEAVES_MUCH_BEHIND)
    ran = run("ends", cwd=tmp_path)
    assert ran.stdout.split("\n") == ["thread", "exit function", "garbage", ""]
    assert (ran.returncode, ran.stderr) == (0, "")


def test_an_exit_with_a_message_says_it_and_fails(tmp_path: Path):
    (tmp_path / "ends.py").write_text("raise SystemExit('no more')")
    ran = run("ends", cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", "no more\n")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_signal_ends_it(number: signal.Signals):
    with start("json.tool", stdin=subprocess.PIPE) as process:
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0)
        process.send_signal(number)
        assert process.wait() == -number


def test_it_does_not_outlive_what_it_was_forked_from(monkeypatch: pytest.MonkeyPatch):
    server = processes._ForkServer()
    monkeypatch.setattr(processes, "_server", lambda: server)
    with start("json.tool", stdin=subprocess.PIPE) as process:
        server.close()
        assert process.wait() == -signal.SIGKILL
