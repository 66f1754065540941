"""A dialect of the user's own on the command line: its module is named, and its commands are there."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.cli.support import environment
from tests.support.processes import run

BUNDLE = """
    from tests.kernel.toy import ToyBundle

    class Toys(ToyBundle):
        surface = {surface!r}

    bundle = Toys()
"""
COMMANDS = """
    from plait.cli.command import Command

    commands = (Command("Run", {name!r}, "Play with a toy.", "toys.surface.play:play"),)
    extension = "toys.surface.play:ToyExtension"
"""
PLAY = """
    from plait.cli.extension import Extension
    from plait.cli.options import DEFAULT_DB, Db, Json
    from plait.cli.output import say
    from plait.cli.session import do, working

    class ToyExtension(Extension):
        noun = "toy"

    def play(name: str, db: Db = DEFAULT_DB, json: Json = False) -> None:
        do(_play(name, db))

    async def _play(name, db):
        async with working(db, ()) as engine:
            await engine.definitions.save("toy", name, {"program": [{"kind": "task", "name": "spin"}]})
            run = await engine.start(name, id=name)
            say(f"{name}: {(await run.result())['outputs']}")
"""


class Folder:
    """Where the user has the package `toys`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, name: str, text: str) -> None:
        place = self.path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(dedent(text))

    def toys(self, surface: str = "toys.surface", command: str = "toy") -> Folder:
        self.write("toys/__init__.py", BUNDLE.format(surface=surface))
        self.write("toys/surface/__init__.py", "")
        self.write("toys/surface/commands.py", COMMANDS.format(name=command))
        self.write("toys/surface/play.py", PLAY)
        return self

    def plait(self, *args: str, code: int = 0) -> str:
        ran = run("plait.cli.main", *args, cwd=self.path, env=environment())
        assert ran.returncode == code, ran.stdout + ran.stderr
        return ran.stdout + ran.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_its_commands_are_listed_and_called(folder: Folder):
    folder.toys()
    assert "Play with a toy." in folder.plait("--module", "toys", "--help")
    assert "Play with a toy." in folder.plait("--module", "toys/__init__.py", "--help")
    assert folder.plait("--module", "toys", "toy", "top") == "top: ['spin']\n"
    assert "Play with a toy." not in folder.plait("--help")
    assert "there is no command `toy`" in folder.plait("toy", "top", code=2)


def test_the_common_commands_know_its_runs_and_its_saved_definitions(folder: Folder):
    folder.toys()
    folder.plait("--module", "toys", "toy", "top")
    assert "spin" in folder.plait("--module", "toys", "run", "top@1", "--id", "again")
    assert "toy" in folder.plait("--module", "toys", "show", "again")
    assert "did you mean `top`?" in folder.plait("--module", "toys", "run", "tpo", code=2)


@pytest.mark.parametrize(
    ("surface", "why"),
    [("nowhere.surface", "No module named 'nowhere'"), ("toys.broken", "ZeroDivisionError")],
)
def test_a_surface_that_can_not_be_imported_is_named(folder: Folder, surface: str, why: str):
    folder.toys(surface)
    folder.write("toys/broken/__init__.py", "1 / 0")
    for args in (("toy", "top"), ("runs",), ("--help",)):
        told = folder.plait("--module", "toys", *args, code=2)
        assert "the surface of the dialect `toy` can't be imported" in told
        assert why in told
        assert "Traceback" not in told


@pytest.mark.parametrize("surface", ["", "toys"])
def test_a_dialect_may_have_no_commands(folder: Folder, surface: str):
    folder.toys(surface)
    assert "Play with a toy." not in folder.plait("--module", "toys", "--help")


def test_a_command_that_there_is_already_is_refused(folder: Folder):
    folder.toys(command="show")
    assert "there are two commands `show`" in folder.plait("--module", "toys", "runs", code=2)


def test_a_module_that_is_not_there_is_named(folder: Folder):
    assert "there is no module `toys`" in folder.plait("--module", "toys", "runs", code=2)
