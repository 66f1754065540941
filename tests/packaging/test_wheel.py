"""The wheel in a virtual environment of its own, with nothing but what it asks for itself."""

import shutil
import subprocess
import venv
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.test_snippets import BLOCK

pytestmark = [pytest.mark.costly, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
EXAMPLE = BLOCK.findall((ROOT / "README.md").read_text())[0]

APPROVE = """
import asyncio
from plait import Context, Engine, workflow

@workflow
async def ask(ctx: Context) -> None:
    await ctx.approve("really", form={"type": "object"})

async def main():
    async with Engine("memory:", definitions=[ask]) as engine:
        await (await engine.start(ask)).result()

asyncio.run(main())
"""

STEP = """
import asyncio
from plait import Engine
from plait.catalog import catalog_step

async def main():
    async with Engine("memory:") as engine:
        await engine.catalog.register(catalog_step("a").required("n", int).output("m", int){rest})

asyncio.run(main())
"""

SEND = """
import asyncio
from plait.egress import Egress, EgressSettings, Request

async def main():
    async with Egress(EgressSettings(private=True)) as egress:
        await egress.send(Request(url="http://127.0.0.1:9/"))

asyncio.run(main())
"""

MISSING = [
    ("client", "httpx", "from plait.client import Client"),
    ("http", "httpcore", SEND),
    ("lmdb", "lmdb", "from plait.embedding.drivers.lmdb import LmdbDriver"),
    ("otel", "opentelemetry", "from plait.observe import traces; traces.from_environment({})"),
    ("postgres", "asyncpg", "from plait import Engine; Engine('postgresql://localhost/none')"),
    ("redis", "redis", "from plait import Engine; Engine('memory:', redis='redis://localhost')"),
    ("scripts", "jsonschema_rs", APPROVE),
    ("scripts", "lupa", STEP.format(rest='.lua("return {m = n}")')),
    ("scripts", "jsonpath", STEP.format(rest='.when("jpath", "$.n > 1").ale("{:m n}")')),
    ("server", "structlog", "from plait.observe.observability import Observability"),
]


@dataclass(frozen=True)
class Installed:
    """A virtual environment, and a folder to work in."""

    home: Path
    folder: Path

    def python(self, *args: str) -> "subprocess.CompletedProcess[str]":
        return self._run([str(self.home / "bin" / "python"), *args])

    def plait(self, *args: str) -> "subprocess.CompletedProcess[str]":
        return self._run([str(self.home / "bin" / "plait"), *args])

    def _run(self, command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        environment = {"PATH": str(self.home / "bin"), "HOME": str(self.folder)}
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([uv(), "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT)], check=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(str(wheel), tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="module")
def with_cli(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(f"{wheel}[cli]", tmp_path_factory.mktemp("cli"))


def install(what: str, place: Path) -> Installed:
    home, folder = place / "venv", place / "work"
    folder.mkdir()
    venv.create(home)
    subprocess.run([uv(), "pip", "install", "--quiet", "--python", str(home), what], check=True)
    return Installed(home, folder)


def uv() -> str:
    """As the Makefile finds it."""
    return shutil.which("uv") or str(ROOT / ".tools" / "bin" / "uv")


def test_what_is_built_is_in_the_wheel(wheel: Path):
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    assert "plait/scripts/javascript/static/strip-types.js" in names
    assert "plait/scripts/javascript/sandbox/prelude.js" in names
    assert "plait/scripts/javascript/sandbox/seldom.js" in names
    assert "plait/server/static/index.html" in names
    assert any(name.startswith("plait/server/static/assets/") for name in names)


@pytest.mark.parametrize("kind", ["--wheel", "--sdist"])
def test_a_package_without_the_web_ui_is_not_built(kind: str, tmp_path: Path):
    source = tmp_path / "source"
    without = shutil.ignore_patterns("static", "__pycache__")
    shutil.copytree(ROOT / "src", source / "src", ignore=without)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, source / name)
    command = [uv(), "build", kind, "--out-dir", str(tmp_path / "dist"), str(source)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode != 0
    assert "To fix: make ui" in ran.stderr
    assert not list((tmp_path / "dist").glob("plait*"))


def test_a_plain_install_brings_two_packages(bare: Installed):
    listing = subprocess.run(
        [uv(), "pip", "list", "--quiet", "--format", "freeze", "--python", str(bare.home)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert {line.partition("=")[0].partition(" ")[0] for line in listing.splitlines()} == {"apsw", "msgspec", "plait"}


def test_the_first_example_of_the_readme_runs(bare: Installed):
    ran = bare.python("-c", EXAMPLE)
    assert ran.returncode == 0, ran.stderr
    charging, receipt = ran.stdout.splitlines()
    assert (charging.startswith("charging 42, "), receipt) == (True, "receipt for 42")


@pytest.mark.parametrize(
    ("name", "package", "program"), MISSING, ids=[f"{name}-{package}" for name, package, _ in MISSING]
)
def test_what_is_missing_is_said_with_the_command_that_installs_it(
    bare: Installed, name: str, package: str, program: str
):
    ran = bare.python("-c", program)
    last = ran.stderr.splitlines()[-1]
    assert f"the package {package} is not installed. To fix: pip install 'plait[{name}]'" in last
    assert "[plait.missing_extra]" in last


def test_the_command_without_its_extra_says_so_in_one_line(bare: Installed):
    ran = bare.plait("runs")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "error: the command line needs the extra `cli` of Plait: the package typer is not installed. "
        "To fix: pip install 'plait[cli]' [plait.missing_extra]\n"
    )


@pytest.mark.parametrize("command", [("serve",), ("dev",), ("keys", "list")], ids=lambda command: command[0])
def test_a_command_that_needs_another_extra_says_so_in_one_line(with_cli: Installed, command: tuple[str, ...]):
    ran = with_cli.plait(*command)
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"error: `plait {command[0]}` needs the extra `server` of Plait: ")
    assert ran.stderr.count("\n") == 1


def test_the_command_line_alone_works_on_a_database(with_cli: Installed):
    with_cli.python("-c", EXAMPLE)
    assert "order-1" in with_cli.plait("runs").stdout
    assert with_cli.plait("runs", "--db", "http://127.0.0.1:9").stderr.startswith(
        "error: talking to a server needs the extra `client` of Plait"
    )
