"""Promises the repository itself keeps."""

import re
import subprocess
import tomllib
from pathlib import Path

import plait
from tests.support.lockfile import LOCKFILE, private_origins

ROOT = Path(__file__).parents[1]
MAX_LINES = 450
# Written in pieces, so that this file keeps the promise too.
MACHINE_PATH = re.compile(rb"(?<![\w.])/(?:" + b"|".join([b"work", b"root"]) + rb")/")


def project_files() -> list[Path]:
    """What git would commit; in an unpacked archive, which has no git, the folders we write."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if (ROOT / ".git").exists():
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        paths = [ROOT / name for name in listing.split("\0") if name]
    else:
        paths = [*ROOT.glob("*"), *(path for folder in ("src", "tests") for path in (ROOT / folder).rglob("*.*"))]
    return [path for path in paths if path.is_file() and path.suffix != ".pyc"]


def test_no_file_names_a_path_of_the_machine_it_was_written_on():
    assert [str(path) for path in project_files() if MACHINE_PATH.search(path.read_bytes())] == []


def test_the_lock_file_names_public_package_indexes_only():
    assert private_origins(LOCKFILE.read_text()) == []


def test_a_private_package_index_in_a_lock_file_is_found():
    lock = (
        'source = { registry = "https://pypi.org/simple" }\nurl = "file:///mirror/a.whl"\nurl = "http://10.0.0.1/a.whl"'
    )
    assert private_origins(lock) == ["file://", "http://10.0.0.1"]


def test_source_files_stay_short_enough_to_be_read_in_one_go():
    sources = [path for path in project_files() if path.is_relative_to(ROOT / "src") and path.suffix == ".py"]
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_LINES} == {}


def test_the_version_is_the_packages():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert plait.__version__ == project["version"]
