import json
import signal
from pathlib import Path

import pytest

from plait.cli.options import Where
from plait.cli.run_request import RunRequest
from tests.cli.support import Desk, both_ways, read_until


@both_ways
def test_run_prints_the_output_alone_on_stdout(desk: Desk):
    ran = desk.run("hello", "--input", '"Ada"')
    assert (ran.code, ran.out) == (0, '"hello Ada"\n')


def test_progress_goes_to_stderr_with_every_operation(desk: Desk):
    ran = desk.run("sums", "--input", "3", "--id", "s-1")
    assert "run s-1 of sums in sqlite:///plait.db" in ran.err
    assert [line for line in ran.err.splitlines() if "✓ rounds / loop 3 / add" in line]


def test_the_database_is_made_in_the_current_folder(desk: Desk):
    desk.run("nothing")
    assert (desk.folder / "plait.db").exists()


def test_the_database_can_be_named_by_the_environment(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLAIT_DB", f"sqlite:///{desk.folder}/other.db")
    desk.run("nothing")
    assert (desk.folder / "other.db").exists()
    assert len(desk.plait("runs", "--json").json) == 1


@both_ways
def test_json_is_one_document_and_nothing_else(desk: Desk):
    ran = desk.run("hello", "--input", '"Ada"', "--id", "h-1", "--json")
    assert ran.json == {
        "id": "h-1",
        "namespace": "default",
        "definition": "hello",
        "status": "completed",
        "output": "hello Ada",
    }
    assert ran.err == ""


@both_ways
def test_an_output_of_nothing_is_null(desk: Desk):
    assert desk.run("nothing", "--json").json["output"] is None
    assert desk.run("nothing").out == "null\n"


def test_input_comes_from_a_file_or_from_stdin(desk: Desk):
    (desk.folder / "name.json").write_text('"Grace"')
    assert desk.run("hello", "--input", "@name.json").out == '"hello Grace"\n'
    ran = desk.plait("run", f"{desk.module}:hello", "--input", "@-", input='"Edsger"')
    assert ran.out == '"hello Edsger"\n'


@both_ways
def test_labels_deadline_and_namespace_are_kept_with_the_run(desk: Desk):
    desk.run("nothing", "--id", "n", "--label", "team=tea", "--label", "a=b=c", "--deadline", "60", "-n", "shop")
    found = desk.plait("show", "n", "--namespace", "shop", "--json").json
    assert found["labels"] == {"team": "tea", "a": "b=c"}
    assert found["deadline"] - found["created_at"] == 60_000


def test_a_file_is_imported_under_its_dotted_name(desk: Desk):
    (desk.folder / "shop_files").mkdir()
    source = (desk.folder / f"{desk.module}.py").read_text()
    (desk.folder / "shop_files" / "flows.py").write_text(source)
    assert desk.plait("run", "shop_files/flows.py:gated", "--id", "g").code == 0
    opened = [json.loads(line) for line in desk.plait("events", "g", "--json").out.splitlines()]
    assert "shop_files.flows:gate" in [event["data"].get("fn") for event in opened]


# -- ends other than an output -----------------------------------------------------------------------------------


@both_ways
def test_a_failed_run_says_why_and_what_to_do(desk: Desk):
    (desk.folder / "closed").touch()
    ran = desk.run("gated", "--id", "g-1")
    assert (ran.code, ran.out) == (1, "")
    last = ran.err.splitlines()[-1]
    assert last.startswith("error: run g-1 failed: gate failed after 2 attempts: closed is in the way. To fix: ")
    assert "plait retry g-1" in last
    assert last.endswith("[step.exhausted]")


@both_ways
def test_a_failed_run_is_a_document_with_its_error(desk: Desk):
    (desk.folder / "closed").touch()
    ran = desk.run("gated", "--json")
    assert ran.code == 1
    assert (ran.json["status"], ran.json["error"]["code"]) == ("failed", "step.exhausted")
    assert "output" not in ran.json


@both_ways
def test_a_deadline_fails_the_run(desk: Desk):
    ran = desk.run("waits", "--deadline", "0.05", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (1, "DEADLINE_EXCEEDED")


def test_a_cancelled_run_has_its_own_exit_code(desk: Desk):
    with desk.spawn("run", f"{desk.module}:waits", "--id", "w-1") as process:
        read_until(process.stderr, "◌ go")
        assert desk.plait("cancel", "w-1", "--reason", "enough").code == 0
        _, err = process.communicate()
    assert process.returncode == 3
    assert "run w-1 cancelled: enough" in err


def test_a_blocked_run_has_its_own_exit_code_and_goes_on_with_the_right_code(desk: Desk):
    source = (desk.folder / f"{desk.module}.py").read_text()
    _leave_waiting(desk, "w-1")
    desk.write(source.replace('"before"', '"earlier"'))
    ran = desk.run("waits", "--id", "w-1", "--json")
    assert ran.code == 4
    assert (ran.json["status"], ran.json["blocked"]["code"]) == ("running", "CODE_DIVERGED")
    ran = desk.run("waits", "--id", "w-1")
    assert ran.code == 4
    assert 'ctx.removed("before", "step")' in ran.err
    desk.write(source)
    desk.plait("message", "w-1", "go", "1")
    assert desk.run("waits", "--id", "w-1").out == '{"got":1}\n'


# -- stopping and going on ---------------------------------------------------------------------------------------


def _leave_waiting(desk: Desk, run: str, workflow: str = "waits", signal: signal.Signals = signal.SIGINT) -> str:
    with desk.spawn("run", f"{desk.module}:{workflow}", "--id", run) as process:
        read_until(process.stderr, "◌ go")
        process.send_signal(signal)
        _, err = process.communicate()
    assert process.returncode == (130 if signal == signal.SIGINT else -signal)
    return err


def test_interrupted_the_run_is_kept_and_the_command_to_go_on_is_shown(desk: Desk):
    err = _leave_waiting(desk, "w-1")
    assert "interrupted: run w-1 is kept in sqlite:///plait.db. To continue:" in err
    assert f"  plait run {desk.module}:waits --id w-1\n" in err
    assert "Traceback" not in err
    assert "never retrieved" not in err


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_the_same_command_goes_on_where_it_was(desk: Desk, end: signal.Signals):
    _leave_waiting(desk, "w-1", signal=end)
    sent = desk.plait("message", "w-1", "go", '{"n": 7}', "--json").json
    assert sent["taken"] is False
    assert desk.run("waits", "--id", "w-1").out == '{"got":{"n":7}}\n'
    assert desk.run("waits", "--id", "w-1").out == '{"got":{"n":7}}\n'


def test_the_command_to_go_on_quotes_its_input(desk: Desk):
    order = RunRequest("m:f", ['"a b"'], "a b", "it's", Where(desk.db, "secret", "shop"), None, {}, None, {}, False)
    assert order.again() == f"""plait run m:f --id 'it'"'"'s' --input '"a b"' --namespace shop --db {desk.db}"""


@both_ways
def test_a_known_run_needs_no_input(desk: Desk):
    desk.run("hello", "--id", "h", "--input", '"Ada"')
    assert desk.run("hello", "--id", "h").out == '"hello Ada"\n'


@both_ways
def test_a_known_id_with_another_input_or_workflow_is_refused(desk: Desk):
    desk.run("hello", "--id", "h", "--input", '"Ada"')
    ran = desk.run("hello", "--id", "h", "--input", '"Bob"')
    assert ran.code == 2
    assert "[kernel.run_exists]" in ran.err
    assert "[kernel.run_exists]" in desk.run("nothing", "--id", "h").err


def test_a_retry_that_waited_for_an_engine_is_taken_first(desk: Desk):
    (desk.folder / "closed").touch()
    desk.run("gated", "--id", "g-1")
    (desk.folder / "closed").unlink()
    assert desk.plait("retry", "g-1", "--json").json["taken"] is False
    assert desk.run("gated", "--id", "g-1").out == '"passed"\n'


def test_beside_a_living_engine_the_run_goes_on_there(desk: Desk):
    with desk.engine():
        ran = desk.run("hello", "--id", "h", "--input", '"Ada"')
    assert (ran.code, ran.out) == (0, '"hello Ada"\n')
    assert "another engine works on this database" in ran.err


# -- wrong input -------------------------------------------------------------------------------------------------


@both_ways
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Ada", "value.malformed"),
        ('{"a": 1, "a": 2}', "value.duplicate_key"),
        ("NaN", "value.not_encodable"),
        ('"\\u0000"', "value.not_encodable"),
        ('"\\ud800"', "value.not_encodable"),
        ("[" * 500 + "]" * 500, "value.not_encodable"),
        ("", "value.malformed"),
        ("@nowhere.json", "cli.bad_file"),
        ("7", "CODE_INPUT_INVALID"),
    ],
)
def test_bad_input_is_refused_before_a_run_is_made(desk: Desk, text: str, code: str):
    ran = desk.run("hello", "--input", text, "--json")
    assert ran.code == 2
    assert ran.problem["code"] == code
    assert "Traceback" not in ran.err
    assert desk.plait("runs", "--json").out.strip() in ("", "[]")


@both_ways
def test_a_bare_word_is_shown_how_it_is_written(desk: Desk):
    assert """a string is written '"Ada"'""" in desk.run("hello", "--input", "Ada").err


@both_ways
def test_a_missing_input_and_one_too_many_are_refused(desk: Desk):
    assert "[CODE_INPUT_INVALID]" in desk.run("hello").err
    assert "takes no input" in desk.run("nothing", "--input", "1").err


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("order", "cli.bad_target"),
        (":order", "cli.bad_target"),
        ("nowhere:order", "cli.no_module"),
        ("nowhere.at.all:order", "cli.no_module"),
        ("nowhere.py:order", "cli.no_module"),
        ("..:order", "cli.bad_target"),
        ("{module}:helo", "cli.no_workflow"),
        ("{module}:fail_while", "cli.not_a_workflow"),
        ("{module}:QUICK", "cli.not_a_workflow"),
    ],
)
def test_an_unknown_target_is_refused(desk: Desk, target: str, code: str):
    ran = desk.plait("run", target.format(module=desk.module), "--json")
    assert (ran.code, ran.problem["code"]) == (2, code)


def test_a_mistyped_workflow_gets_a_suggestion(desk: Desk):
    assert f"did you mean {desk.module}:hello?" in desk.run("helo").err


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("import no_such_thing", ":1: ModuleNotFoundError: No module named 'no_such_thing'"),
        ("x = 1\nx.y", ":2: AttributeError"),
        ("def (", ":1: SyntaxError"),
        ("raise SystemExit(3)", ":1: SystemExit: 3"),
        ("from plait import workflow\n@workflow\ndef f(ctx): ...", "CODE_BAD_SIGNATURE"),
    ],
)
def test_a_module_that_fails_is_named_with_the_place(desk: Desk, source: str, why: str):
    desk.write(source)
    ran = desk.run("hello")
    assert ran.code == 2
    assert why in ran.err
    assert "Traceback" not in ran.err
    assert "[cli.import_failed]" in ran.err


def test_a_decorator_that_refuses_is_told_by_the_line_of_the_module_and_its_own_advice(desk: Desk):
    desk.write("from plait import step\n\n@step(atempts=3)\ndef f(): ...")
    told = desk.run("hello").err
    assert f"{desk.module}.py:3: WorkflowCodeError: unknown option `atempts`" in told
    assert told.count("To fix: ") == 1
    assert "max_attempts" in told.partition("To fix: ")[2]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("--label", "team"), "cli.bad_pair"),
        (("--deadline", "0"), "cli.bad_deadline"),
        (("--deadline", "nan"), "cli.bad_deadline"),
        (("--id", "a/b"), "kernel.bad_run_id"),
        (("--id", ""), "kernel.bad_run_id"),
        (("-n", "Shop"), "kernel.bad_namespace"),
        (("--db", "http://127.0.0.1:1"), "cli.bad_target"),
        (("--db", "mysql://x"), "store.bad_url"),
        (("--db", "plait.db"), "store.bad_url"),
        (("--db", "sqlite:///no/such/folder/plait.db"), "store.no_folder"),
    ],
)
def test_a_bad_option_is_refused(desk: Desk, args: tuple[str, ...], code: str):
    ran = desk.run("nothing", *args, "--json")
    assert (ran.code, ran.problem["code"]) == (2, code)


def test_a_database_of_another_program_is_left_alone(desk: Desk, tmp_path: Path):
    (tmp_path / "notes.db").write_text("this is not a database, but a text that is long enough" * 20)
    before = (tmp_path / "notes.db").read_bytes()
    ran = desk.run("nothing", "--db", "sqlite:///notes.db", "--json")
    assert (ran.code, ran.problem["code"]) == (2, "store.not_a_database")
    assert (tmp_path / "notes.db").read_bytes() == before


def test_memory_is_enough_to_run(desk: Desk):
    assert desk.run("hello", "--input", '"Ada"', "--db", "memory:").out == '"hello Ada"\n'
