"""Programs from files, directories and libraries."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plait.dialects.afl.language.limits import MAX_FILES
from plait.dialects.afl.language.loading import read_sources
from plait.dialects.afl.language.program import read_program
from plait.kernel.errors import PlaitError


def names(sources: list, folder: Path) -> list[str]:
    return [os.path.relpath(each.name, folder) for each in sources]


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_afl", ".afl").replace("_ffl", ".ffl")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_directory_is_read_sorted_and_whole_without_links_to_directories(tmp_path: Path) -> None:
    write(tmp_path, b_afl="", a_ffl="", sub__c_afl="", other_txt="x")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    write(outside, d_afl="")
    (tmp_path / "link").symlink_to(outside)
    (tmp_path / "again.afl").symlink_to(tmp_path / "b.afl")
    assert names(read_sources(tmp_path), tmp_path) == ["a.ffl", "again.afl", "sub/c.afl"]


def test_a_list_keeps_its_order_and_each_file_once(tmp_path: Path) -> None:
    write(tmp_path, b_afl="", a_afl="")
    paths = [tmp_path / "b.afl", tmp_path, tmp_path / "b.afl"]
    assert names(read_sources(paths), tmp_path) == ["b.afl", "a.afl"]


def test_text_is_a_program_too() -> None:
    [only] = read_sources("namespace a { }")
    assert only.text == "namespace a { }"


def test_used_namespaces_come_from_libraries_and_what_they_use_in_turn(tmp_path: Path) -> None:
    write(tmp_path, main_afl="namespace app { use tax\n facet F() andThen { s = Rate() } }")
    write(
        tmp_path,
        lib__tax_afl="namespace tax { use money facet Rate(m: Amount) }",
        lib__money_afl="namespace money { schema Amount { cents: Long } }",
        lib__unused_afl="namespace unused { facet Broken( }",
    )
    sources = read_sources(tmp_path / "main.afl", [tmp_path / "lib"])
    assert names(sources, tmp_path) == ["main.afl", "lib/tax.afl", "lib/money.afl"]
    assert read_program(sources).diagnostics == ()


def test_bytes_that_are_no_text_are_an_error_with_a_place(tmp_path: Path) -> None:
    (tmp_path / "a.afl").write_bytes(b"facet F()\n// \xff\n")
    [error] = read_program(read_sources(tmp_path)).diagnostics
    assert (error.code, error.line, error.column) == ("PARSE_ERROR", 2, 4)


@pytest.mark.parametrize(("path", "code"), [("gone.afl", "afl.no_file"), ("empty", "afl.no_files")])
def test_what_can_not_be_read_is_said(tmp_path: Path, path: str, code: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(PlaitError) as caught:
        read_sources(tmp_path / path)
    assert caught.value.code == code


def test_a_program_of_too_many_files_is_refused(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 1):
        (tmp_path / f"{number}.afl").touch()
    with pytest.raises(PlaitError) as caught:
        read_sources(tmp_path)
    assert caught.value.code == "afl.too_many_files"
