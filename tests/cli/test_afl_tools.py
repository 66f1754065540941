"""`plait afl check`, `compile` and `fmt`."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.cli.support import run_plait

GOOD = "namespace shop {\n    event facet Pay(sku: String) => (id: String)\n}\n"
BAD = """namespace shop {
    event facet Pay(sku: String) => (id: String)
    workflow W() => (id: String) andThen {
        pay = Pya(sku = 1)
        yield W(id = pay.id +\t"x")
    }
}
"""


def write(folder: Path, text: str, name: str = "shop.afl") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_a_good_program_is_said_to_be_good(tmp_path: Path) -> None:
    ran = run_plait("afl", "check", write(tmp_path, GOOD))
    assert (ran.code, ran.out) == (0, "1 file: 0 errors, 0 warnings\n")


def test_every_error_is_shown_with_its_line_a_caret_and_a_hint(tmp_path: Path) -> None:
    path = write(tmp_path, BAD)
    ran = run_plait("afl", "check", path)
    assert ran.code == 1
    assert ran.out == (
        f"{path}:4:15: error REF_UNKNOWN_FACET: Unknown facet 'Pya'\n"
        "            pay = Pya(sku = 1)\n"
        "                  ^~~\n"
        "    hint: did you mean 'Pay'?\n"
        f"{path}:5:31: error TYPE_ARITHMETIC_STRING: '+' with String operand\n"
        '            yield W(id = pay.id + "x")\n'
        "                                  ^~~\n"
        "    hint: use '++'\n"
        "1 file: 2 errors, 0 warnings\n"
    )


def test_diagnostics_come_as_json(tmp_path: Path) -> None:
    path = write(tmp_path, BAD)
    ran = run_plait("afl", "check", path, "--json")
    assert ran.code == 1
    assert ran.json["valid"] is False
    assert ran.json["diagnostics"][0] == {
        "severity": "error",
        "code": "REF_UNKNOWN_FACET",
        "message": "Unknown facet 'Pya'",
        "hint": "did you mean 'Pay'?",
        "file": path,
        "line": 4,
        "column": 15,
        "end_line": 4,
        "end_column": 18,
    }


def test_warnings_refuse_only_under_strict(tmp_path: Path) -> None:
    path = write(tmp_path, "workflow W()\n")
    assert run_plait("afl", "check", path).code == 0
    ran = run_plait("afl", "check", path, "--strict")
    assert (ran.code, "error WORKFLOW_AT_TOP_LEVEL" in ran.out) == (1, True)


def test_what_can_not_be_read_is_no_error_of_the_program(tmp_path: Path) -> None:
    ran = run_plait("afl", "check", str(tmp_path / "gone.afl"))
    assert (ran.code, "there is no file" in ran.err) == (2, True)
    assert run_plait("afl", "check").code == 2


def test_a_library_has_what_is_used(tmp_path: Path) -> None:
    path = write(tmp_path, "namespace app { use shop }")
    (tmp_path / "lib").mkdir()
    write(tmp_path / "lib", GOOD)
    assert run_plait("afl", "check", path).code == 1
    assert run_plait("afl", "check", path, "--library", str(tmp_path / "lib")).code == 0


def test_a_program_is_compiled_to_stdout_or_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    ran = run_plait("afl", "compile", path)
    assert (ran.code, ran.json["type"], ran.err) == (0, "Program", "")
    assert "location" in ran.json["declarations"][0]
    to = tmp_path / "shop.json"
    assert run_plait("afl", "compile", path, "-o", str(to), "--no-locations", "--compact").code == 0
    assert "location" not in json.loads(to.read_text())["declarations"][0]
    assert to.read_text().count("\n") == 1
    placed = run_plait("afl", "compile", path, "--provenance").json
    assert placed["declarations"][0]["location"]["provenance"]["file"] == path


def test_a_program_with_errors_is_not_compiled(tmp_path: Path) -> None:
    ran = run_plait("afl", "compile", write(tmp_path, BAD))
    assert (ran.code, ran.out, "REF_UNKNOWN_FACET" in ran.err) == (1, "", True)
    ran = run_plait("afl", "compile", write(tmp_path, BAD), "--json")
    assert (ran.code, ran.json["program"], len(ran.json["diagnostics"])) == (1, None, 2)


def test_an_output_that_can_not_be_written_is_said(tmp_path: Path) -> None:
    ran = run_plait("afl", "compile", write(tmp_path, GOOD), "-o", str(tmp_path / "no" / "x.json"))
    assert (ran.code, "can't be written" in ran.err) == (2, True)


def test_files_are_formatted_in_place_with_their_modes(tmp_path: Path) -> None:
    path = write(tmp_path, "namespace a{facet F( )}")
    os.chmod(path, 0o600)
    link = tmp_path / "link.afl"
    link.symlink_to(path)
    ran = run_plait("afl", "fmt", str(link))
    assert (ran.code, ran.out) == (0, f"formatted {link}\n")
    assert Path(path).read_text() == "namespace a {\n    facet F()\n}\n"
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert link.is_symlink()
    assert run_plait("afl", "fmt", str(tmp_path)).out == ""
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.afl", "shop.afl"]


def test_check_and_diff_write_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, "facet F( )\n")
    ran = run_plait("afl", "fmt", path, "--check")
    assert (ran.code, ran.out) == (1, f"would format {path}\n")
    ran = run_plait("afl", "fmt", path, "--diff")
    assert (ran.code, "-facet F( )\n+facet F()\n" in ran.out) == (0, True)
    assert run_plait("afl", "fmt", path, "--check", "--json").json["changed"] == [path]
    assert Path(path).read_text() == "facet F( )\n"


def test_a_file_with_syntax_errors_is_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path, "facet F(\n")
    ran = run_plait("afl", "fmt", path)
    assert (ran.code, "error PARSE_ERROR" in ran.out) == (1, True)
    assert Path(path).read_text() == "facet F(\n"


def test_the_common_check_takes_programs_too(tmp_path: Path) -> None:
    ran = run_plait("check", write(tmp_path, GOOD))
    assert (ran.code, ran.out) == (0, "1 file: 0 errors, 0 warnings\n")
    ran = run_plait("check", write(tmp_path, BAD), "--json")
    assert (ran.code, [each["code"] for each in ran.json["diagnostics"]][:1]) == (1, ["REF_UNKNOWN_FACET"])


def test_a_long_line_is_shown_around_its_error(tmp_path: Path) -> None:
    steps = " ".join(f"s{number} = Pay(sku = $.sku)" for number in range(30))
    text = (
        f"namespace a {{ facet Pay(sku: String) workflow W(sku: String) andThen {{ {steps} t = Pay(sku = $.nope) }} }}"
    )
    ran = run_plait("afl", "check", write(tmp_path, text))
    shown, caret = ran.out.splitlines()[1:3]
    assert len(shown) < 140
    start = caret.index("^")
    assert shown[start : start + caret.count("~") + 1] == "$.nope"
    assert shown.startswith("    … ")


def test_a_program_with_errors_is_not_run_and_all_of_them_are_shown(tmp_path: Path) -> None:
    path, db = write(tmp_path, BAD), f"sqlite:///{tmp_path / 'x.db'}"
    ran = run_plait("afl", "run", path, "--db", db)
    assert ran.code == 2
    assert [each in ran.err for each in ("4:15: error", "5:31: error", "1 file: 2 errors")] == [True] * 3
    ran = run_plait("afl", "run", path, "--db", db, "--json")
    assert (ran.code, len(ran.json["diagnostics"])) == (2, 2)


SUM = """namespace shop {
    use tax
    workflow Sum(total: Long) => (sum: Long) andThen { t = tax.Add(net = $.total) yield Sum(sum = t.net + 1) }
    workflow Other() => (x: Long) andThen { yield Other(x = 1) }
}
"""


def test_a_directory_is_saved_and_each_workflow_run_by_its_name(tmp_path: Path) -> None:
    db = f"sqlite:///{tmp_path / 'x.db'}"
    program = tmp_path / "program"
    program.mkdir()
    write(program, SUM)
    write(program, "namespace tax { facet Add(net: Long) }", "tax.ffl")
    saved = run_plait("save", "orders", str(program), "--db", db, "--json")
    assert (saved.code, saved.json["version"]) == (0, "1")
    assert run_plait("run", "shop.Sum@1", '{"total": 4}', "--db", db).out == '{"sum":5}\n'
    several = run_plait("run", "orders", "--db", db)
    assert several.code == 2
    assert "the program has several workflows" in several.err
    assert "use one of shop.Sum, shop.Other" in several.err
    names = [each["name"] for each in run_plait("definitions", "--db", db, "--json").json]
    assert names == ["orders", "shop.Other", "shop.Sum"]


def test_a_file_is_run_by_the_common_command_with_named_inputs(tmp_path: Path) -> None:
    db = f"sqlite:///{tmp_path / 'x.db'}"
    alone = "workflow W(n: Long) => (n: Long) andThen { yield W(n = $.n * 2) }"
    ran = run_plait("run", write(tmp_path, alone), "--input", "n=4", "--db", db)
    assert (ran.code, ran.out) == (0, '{"n":8}\n')
    refused = run_plait("save", "nothing", str(tmp_path / "x.txt"), "--db", db)
    assert refused.code == 2
    assert ".afl or .ffl" in refused.err
