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


def test_an_unknown_name_is_an_attribute_error(tmp_path: Path):
    ran = run("import plait; plait.Enigne", tmp_path)
    assert ran.stderr.endswith("AttributeError: module 'plait' has no attribute 'Enigne'. Did you mean: 'Engine'?\n")


@pytest.mark.parametrize("example", BLOCK.findall((ROOT / "README.md").read_text())[:2], ids=["code", "goals"])
def test_the_first_examples_need_no_extra(example: str, tmp_path: Path):
    ran = run(CORE_ONLY + example.replace("from __future__ import annotations\n", ""), tmp_path)
    assert ran.returncode == 0, ran.stderr


def test_all_is_every_extra_there_is():
    extras = PROJECT["optional-dependencies"]
    others = ",".join(sorted(set(extras) - {"all"}))
    assert extras["all"] == [f"plait[{others}]"]
