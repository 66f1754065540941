import subprocess
import sys

import pytest

from plait import __version__
from plait.cli.main import commands, load
from tests.cli.support import Desk, environment, run_plait

NAMES = list(commands())


def test_help_lists_every_command_and_exit_code():
    ran = run_plait("--help")
    assert ran.code == 0
    assert all(f"\n  {name} " in ran.out for name in NAMES)
    assert "Exit codes:" in ran.out
    assert "4    the run is blocked" in ran.out


def test_no_arguments_show_the_help():
    ran = run_plait()
    assert ran.code == 2
    assert "Usage: plait" in ran.out + ran.err
    assert "error" not in ran.err


@pytest.mark.parametrize("name", NAMES)
def test_every_command_can_be_loaded_and_explains_itself(name: str):
    assert load(name).name == name
    ran = run_plait(name, "--help")
    assert ran.code == 0
    assert "--json" in ran.out or name == "mcp"  # its output is the protocol's
    assert max(map(len, ran.out.splitlines())) <= 80


def test_help_loads_no_command_no_dialect_and_no_rich():
    code = """
import sys
from plait.cli.main import main
try:
    main(["--help"])
except SystemExit:
    pass
loaded = [name for name in sys.modules if name.startswith(("rich", "plait.cli.", "plait.dialects."))]
print(sorted(loaded), file=sys.stderr)
"""
    ran = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    assert eval(ran.stderr) == [
        "plait.cli.command",
        "plait.cli.exits",
        "plait.cli.extensions",
        "plait.cli.main",
        "plait.cli.own_dialects",
        *(
            f"plait.dialects.{module}"
            for dialect in ("afl", "code", "goals", "graph", "refs")
            for module in (dialect, f"{dialect}.surface", f"{dialect}.surface.commands")
        ),
    ]


def test_an_unknown_command_is_refused_with_a_suggestion():
    ran = run_plait("evnets")
    assert ran.code == 2
    assert ran.err.startswith("error: there is no command `evnets`. To fix: did you mean `plait events`?")
    assert ran.err.endswith("[cli.usage]\n")


@pytest.mark.parametrize(
    "args",
    [
        ("show",),
        ("runs", "--limit", "many"),
        ("runs", "--limit", "0"),
        ("runs", "--status", "sleeping"),
        ("events", "x", "--after", "-1"),
        ("runs", "--colour"),
    ],
)
def test_wrong_usage_is_one_clear_line(args: tuple[str, ...]):
    ran = run_plait(*args)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert ran.err.endswith(f"To fix: see `plait {args[0]} --help` [cli.usage]\n")
    assert ran.err.count("\n") == 1


def test_wrong_usage_is_a_problem_document_for_programs():
    ran = run_plait("show", "--json")
    assert ran.code == 2
    assert ran.out == ""
    assert set(ran.problem) == {"code", "title", "detail", "fix"}
    assert ran.problem["code"] == "cli.usage"


def test_a_bug_is_shown_with_its_traceback_and_its_own_exit_code(monkeypatch: pytest.MonkeyPatch):
    def broken(name: str) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("plait.cli.main.load", broken)
    ran = run_plait("runs")
    assert ran.code == 70
    assert "Traceback" in ran.err
    assert "[cli.bug]" in ran.err
    assert run_plait("runs", "--json").problem["detail"] == "ZeroDivisionError: oops"


def test_version_names_plait_and_its_parts():
    ran = run_plait("version")
    assert ran.code == 0
    assert ran.out.startswith("plait 0.")
    assert {"plait", "python", "sqlite", "msgspec"} <= set(run_plait("version", "--json").json)


def test_the_command_works_as_a_process(desk: Desk):
    with desk.spawn("runs", "--json") as process:
        out, err = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert '"code":"cli.no_database"' in err


def test_output_that_nobody_reads_is_no_error(desk: Desk):
    desk.run("sums", "--id", "s-1", "--input", "300")
    with desk.spawn("events", "s-1", "--json", "--db", desk.db) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith('{"seq":1,')
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()


def test_the_version_is_printed():
    for option in ("--version", "-V"):
        ran = subprocess.run(
            [sys.executable, "-m", "plait.cli.main", option], capture_output=True, text=True, check=True
        )
        assert ran.stdout == f"plait {__version__}\n"


def test_help_loads_nothing_that_it_does_not_need():
    """A quarter of a second is what people notice; what is loaded does not depend on the machine."""
    program = (
        "import sys; from plait.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: print(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.splitlines()[-1].split())
    assert {"plait.cli.main", "typer"} <= loaded
    assert not loaded & {
        "apsw",
        "asyncio",
        "httpx",
        "rich",
        "starlette",
        "uvicorn",
        "plait.engine",
        "plait.kernel.values",
    }
