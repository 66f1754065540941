import asyncio
import json

import pytest

from plait import Engine
from plait.dialects.code.registry import Registry
from tests.cli.support import Desk


@pytest.fixture
def source(desk: Desk) -> str:
    return (desk.folder / f"{desk.module}.py").read_text()


def test_code_that_fits_is_said_to_fit(desk: Desk):
    desk.start("waits", "w")
    ran = desk.plait("check", desk.module)
    assert (ran.code, ran.out) == (0, "1 live run checked, 0 warnings\n")
    assert desk.plait("check", desk.module, "--json").json == {"checked": 1, "fits": True, "runs": [], "warnings": []}


def test_ended_runs_are_not_checked(desk: Desk):
    desk.run("nothing")
    assert desk.plait("check", desk.module).out == "0 live runs checked, 0 warnings\n"


def test_a_run_that_does_not_fit_is_named_with_the_place_and_the_line_to_paste(desk: Desk, source: str):
    desk.start("waits", "w")
    desk.write(source.replace('"before"', '"earlier"'))
    ran = desk.plait("check", desk.module)
    line = 1 + source.splitlines().index("async def waits(ctx: Context) -> dict:")
    assert ran.code == 1
    assert f"{desk.module}.py:{line - 1}: error run w does not fit" in ran.out
    assert "  at      before\n" in ran.out
    assert "  history step `before`\n" in ran.out
    assert "  code    step `earlier`\n" in ran.out
    assert '      await ctx.removed("before", "step")\n' in ran.out
    assert "1 live run checked, 1 does not fit" in ran.out


def test_the_pasted_line_makes_it_fit(desk: Desk, source: str):
    desk.start("waits", "w")
    changed = source.replace('    await ctx.step("before", lambda: {"n": 1})\n', "")
    desk.write(changed)
    [finding] = desk.plait("check", desk.module, "--json").json["runs"]
    assert (finding["verdict"], finding["at"]) == ("diverged", "before")
    place = "async def waits(ctx: Context) -> dict:\n"
    desk.write(changed.replace(place, f"{place}    {finding['paste'][0]}\n"))
    assert desk.plait("check", desk.module).code == 0


def test_checking_changes_nothing_and_calls_no_step(desk: Desk, source: str):
    desk.start("waits", "w")
    before = desk.plait("events", "w", "--json").out
    desk.write(source.replace('lambda: {"n": 1}', "lambda: 1 / 0"))
    assert desk.plait("check", desk.module).code == 0
    desk.write(source.replace('"before"', '"earlier"'))
    assert desk.plait("check", desk.module).code == 1
    assert desk.plait("events", "w", "--json").out == before
    assert desk.plait("why", "w", "--json").json.get("blocked") is None


def test_a_changed_input_type_is_told_from_changed_code(desk: Desk, source: str):
    greets = source.replace(
        'return await ctx.step("greet"', 'await ctx.listen("go")\n    return await ctx.step("greet"'
    )
    desk.write(greets)
    with desk.spawn("run", f"{desk.module}:hello", "--id", "h", "--input", '"Ada"') as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "◌" in line:
                break
        process.terminate()
        process.communicate()
    desk.write(greets.replace("name: str) -> str:\n    await", "name: int) -> str:\n    await"))
    [finding] = desk.plait("check", desk.module, "--json").json["runs"]
    assert (finding["at"], finding["found"]) == ("input", "`int`: Expected `int`, got `str`")
    assert "paste" not in finding
    assert desk.plait("check", desk.module).code == 1


def test_a_run_whose_workflow_is_not_there_could_not_be_checked(desk: Desk):
    desk.start("waits", "w")
    desk.write("from plait import workflow\n@workflow\nasync def other(ctx): ...\n")
    ran = desk.plait("check", desk.module)
    assert ran.code == 2
    assert "run w could not be checked: no workflow `waits`; loaded: other" in ran.err
    [finding] = desk.plait("check", desk.module, "--json").json["runs"]
    assert finding["verdict"] == "not_loaded"


def test_a_run_that_no_engine_has_started_fits(desk: Desk):
    desk.run("nothing")

    async def make() -> None:
        async with Engine(desk.db, work=False, definitions=[desk.load()]) as engine:
            await engine.start("hello", "Ada", id="h")

    asyncio.run(make())
    assert desk.plait("check", desk.module).code == 0


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("nowhere",), "cli.no_module"),
        (("json",), "cli.no_workflow"),
        (("{module}",), "cli.no_database"),
        (("{module}", "--db", "http://localhost"), "cli.needs_database"),
    ],
)
def test_what_can_not_be_checked_has_exit_code_2(desk: Desk, args: tuple[str, ...], code: str):
    ran = desk.plait("check", *(arg.format(module=desk.module) for arg in args), "--json")
    assert (ran.code, ran.problem["code"]) == (2, code)


def test_lint_needs_no_database(desk: Desk):
    desk.write("import time\nfrom plait import workflow\n@workflow\nasync def f(ctx):\n    return time.time()\n")
    ran = desk.plait("check", desk.module, "--lint-only")
    assert ran.code == 0
    assert f"{desk.module}.py:5: warning `time.time` is another on every replay: use `ctx.now()` [clock]" in ran.out
    [warning] = desk.plait("check", desk.module, "--lint-only", "--json").json["warnings"]
    assert (warning["file"], warning["line"], warning["code"], warning["workflow"]) == (
        f"{desk.module}.py",
        5,
        "clock",
        "f",
    )


def test_warnings_don_t_change_the_exit_code(desk: Desk):
    desk.run("nothing")
    desk.write("import time\nfrom plait import workflow\n@workflow\nasync def f(ctx):\n    return time.time()\n")
    ran = desk.plait("check", desk.module)
    assert ran.code == 0
    assert ran.out.endswith("0 live runs checked, 1 warning\n")
    assert json.loads(desk.plait("check", desk.module, "--json").out)["fits"] is True


def test_an_empty_registry_is_named_as_such():
    assert "loaded: none" in str(Registry().not_loaded("order"))
