"""What is imported, and when: nothing before it is used, and nothing that `pip install plait` does not bring."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.docs.test_snippets import BLOCK

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

CORE_ONLY = """
import sys

class Missing:
    '''Finds only what a plain `pip install plait` brings.'''

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in {"plait", "apsw", "msgspec", "app"} | sys.stdlib_module_names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""


def run(code: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)


def test_importing_plait_imports_nothing_else(tmp_path: Path):
    listing = "import sys; before = set(sys.modules); import plait; print(*(set(sys.modules) - before))"
    loaded = run(listing, tmp_path).stdout.split()
    assert [name for name in loaded if name.partition(".")[0] not in sys.stdlib_module_names] == ["plait"]


def test_a_public_name_loads_what_it_needs_and_no_surface(tmp_path: Path):
    ran = run("import sys; from plait import Engine, goals, step, workflow; print(*sys.modules)", tmp_path)
    loaded = set(ran.stdout.split())
    packages = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    assert packages <= {"__main__", "plait", "apsw", "msgspec", "typing_extensions"}
    assert not loaded & {"plait.server", "plait.cli", "plait.client", "plait.observe", "plait.stores.postgres"}


def test_a_server_without_an_issuer_loads_nothing_that_reads_its_tokens(tmp_path: Path):
    ran = run("import sys, plait.server.app; print(*sys.modules)", tmp_path)
    assert "plait.server.auth.guard" in ran.stdout.split(), ran.stderr
    assert not set(ran.stdout.split()) & {"cryptography", "httpx", "jwt"}


LOADED = """
import sys
def loaded():
    return sorted({".".join(name.split(".")[:3]) for name in sys.modules if name.startswith(
        ("plait.dialects.goals", "plait.scripts", "plait.server", "plait.cli"))})
"""
CODE_ONLY = """
import asyncio
from plait import Context, Engine, workflow

@workflow
async def double(ctx: Context, n: int) -> int:
    return await ctx.step("twice", twice, n)

async def twice(n: int) -> int:
    return 2 * n

async def main():
    async with Engine("sqlite:///plait.db", definitions=[double]) as engine:
        run = await engine.start("double", 21, id="a")
        assert await run.result() == 42
        assert (await (await engine.get("a")).view()).status == "completed"
        assert len(await engine.runs()) == 1

asyncio.run(main())
"""


@pytest.mark.parametrize("program", ["from plait import Engine", "from plait import Engine, step, workflow", CODE_ONLY])
def test_a_program_of_workflows_loads_no_other_dialect_and_no_scripts(tmp_path: Path, program: str):
    ran = run(f"{program}\n{LOADED}\nprint(loaded())", tmp_path)
    assert ran.stdout == "[]\n", ran.stdout + ran.stderr


STARTS = """
import asyncio
from plait import Engine, goals
from plait.catalog import catalog_step

async def main():
    async with Engine("sqlite:///plait.db", work=False) as engine:
        brew = catalog_step("brew").required("water", str).output("tea", str)
        await engine.catalog.register(brew.ale('{:tea (str water " tea")}'))
        await engine.start(goals("brew"), {"water": "hot"}, id="g")

asyncio.run(main())
"""
TAKES_UP = """
import asyncio
from plait import Engine

async def main():
    async with Engine("sqlite:///plait.db") as engine:
        run = await engine.get("g")
        print(await run.result(), [step.id for step in await engine.catalog.list()])

asyncio.run(main())
"""


def test_a_stored_run_of_another_dialect_loads_it(tmp_path: Path):
    """The engine that takes it up has seen nothing of its dialect before."""
    first = run(STARTS, tmp_path)
    assert first.returncode == 0, first.stderr
    second = run(TAKES_UP, tmp_path)
    assert second.stdout == "{'tea': 'hot tea'} ['brew']\n", second.stdout + second.stderr


def test_a_dialect_that_is_imported_after_the_engine_was_made_can_be_started(tmp_path: Path):
    late = """
import asyncio
from plait import Engine

async def main():
    async with Engine("memory:") as engine:
        assert "plait.dialects.goals" not in __import__("sys").modules
        from plait import goals
        from plait.catalog import catalog_step
        await engine.catalog.register(catalog_step("one").output("x", int).ale("{:x 1}"))
        print(await (await engine.start(goals("one"))).result())
        print(sorted(engine.bundles))

asyncio.run(main())
"""
    ran = run(late, tmp_path)
    assert ran.stdout == "{'x': 1}\n['afl', 'code', 'goals', 'graph', 'refs']\n", ran.stdout + ran.stderr


def test_an_unknown_name_is_an_attribute_error(tmp_path: Path):
    ran = run("import plait; plait.Enigne", tmp_path)
    assert ran.stderr.endswith("AttributeError: module 'plait' has no attribute 'Enigne'. Did you mean: 'Engine'?\n")


@pytest.mark.parametrize("example", BLOCK.findall((ROOT / "README.md").read_text())[:2], ids=["code", "goals"])
def test_the_first_examples_need_no_extra(example: str, tmp_path: Path):
    ran = run(CORE_ONLY + example.replace("from __future__ import annotations\n", ""), tmp_path)
    assert ran.returncode == 0, ran.stderr


def test_all_is_every_extra_there_is_but_ray_which_is_as_big_as_all_others():
    extras = PROJECT["optional-dependencies"]
    others = ",".join(sorted(set(extras) - {"all", "ray"}))
    assert extras["all"] == [f"plait[{others}]"]
