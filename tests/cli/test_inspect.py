import asyncio
import json
from pathlib import Path

import apsw
import pytest

from plait import Context, Engine, step, workflow
from plait.errors import RunFailed
from plait.kernel.store import RunFilter
from tests.cli.support import Desk, both_ways

LOOKS = [("runs",), ("show", "x"), ("events", "x"), ("why", "x"), ("dlq",), ("approve",), ("cancel", "x")]


@pytest.mark.parametrize("args", LOOKS)
def test_a_look_makes_no_database(desk: Desk, args: tuple[str, ...]):
    ran = desk.plait(*args)
    assert ran.code == 2
    assert "there is no database at plait.db" in ran.err
    assert "[cli.no_database]" in ran.err
    assert [path.name for path in desk.folder.iterdir()] == [f"{desk.module}.py"]


def test_an_empty_file_is_not_taken_for_a_database(desk: Desk):
    (desk.folder / "plait.db").touch()
    assert "the file is empty" in desk.plait("runs").err
    assert (desk.folder / "plait.db").stat().st_size == 0


def test_a_folder_is_not_a_database(desk: Desk):
    ran = desk.plait("runs", "--db", f"sqlite:///{desk.folder}", "--json")
    assert ran.problem["code"] == "cli.no_database"


@pytest.mark.parametrize(
    ("db", "code"),
    [
        ("memory:", "cli.memory_database"),
        ("plait.db", "store.bad_url"),
        ("sqlite:///", "store.bad_url"),
    ],
)
def test_what_can_not_be_looked_into_is_refused(desk: Desk, db: str, code: str):
    assert desk.plait("runs", "--db", db, "--json").problem["code"] == code


@both_ways
@pytest.mark.parametrize("command", ["show", "events", "why", "cancel", "retry", "fork", "approve"])
def test_an_unknown_run_is_a_clear_error(desk: Desk, command: str):
    desk.run("nothing")
    ran = desk.plait(command, "nobody")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "error: there is no run nobody. To fix: `plait runs` lists them [kernel.no_run]\n"
    assert desk.plait(command, "a/b", "--json").problem["code"] == "kernel.bad_run_id"


@both_ways
def test_a_run_of_another_namespace_is_not_seen(desk: Desk):
    desk.run("nothing", "--id", "n", "-n", "shop")
    assert desk.plait("show", "n").code == 2
    assert desk.plait("runs").out == "no runs\n"
    assert [run["id"] for run in desk.plait("runs", "-n", "shop", "--json").json] == ["n"]


# -- runs --------------------------------------------------------------------------------------------------------


@both_ways
def test_runs_are_listed_newest_first(desk: Desk):
    for name in ("a", "b", "c"):
        desk.run("hello", "--id", name, "--input", f'"{name}"')
    found = desk.plait("runs", "--json").json
    assert [run["id"] for run in found] == ["c", "b", "a"]
    header, *lines = desk.plait("runs").out.splitlines()
    assert header.split() == ["RUN", "WORKFLOW", "STATUS", "STARTED", "TOOK", "WHY"]
    assert [line.split()[:3] for line in lines] == [[name, "hello", "completed"] for name in ("c", "b", "a")]


def test_runs_for_programs_have_their_outputs(desk: Desk):
    desk.run("hello", "--id", "h", "--input", '"Ada"')
    assert desk.plait("runs", "--json").json[0]["output"] == "hello Ada"


@both_ways
def test_runs_are_filtered(desk: Desk):
    (desk.folder / "closed").touch()
    desk.run("gated", "--id", "g", "--label", "team=tea")
    desk.run("nothing", "--id", "n", "--label", "team=pot")

    def ids(*args: str) -> list[str]:
        return [run["id"] for run in desk.plait("runs", *args, "--json").json]

    assert ids("--status", "failed") == ["g"]
    assert ids("--status", "blocked") == []
    assert ids("--definition", "nothing") == ["n"]
    assert ids("--label", "team=tea") == ["g"]
    assert ids("--label", "team=cup") == []
    assert desk.plait("runs", "--label", "team").code == 2
    assert desk.plait("runs", "--status", "running").out == "no such runs\n"


@both_ways
def test_a_limit_says_that_there_are_more(desk: Desk):
    for name in ("a", "b", "c"):
        desk.run("nothing", "--id", name)
    ran = desk.plait("runs", "--limit", "2")
    assert "plait runs --limit 10" in ran.out
    assert len(desk.plait("runs", "--limit", "2", "--json").json) == 2
    assert "more" not in desk.plait("runs", "--limit", "3").out


@both_ways
def test_tables_fit_eighty_columns_and_show_ids_whole(desk: Desk):
    name = "a-very-long-id-" * 10
    desk.run("nothing", "--id", name)
    lines = desk.plait("runs").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert name in "".join(line.split(" ")[0] for line in lines)


def test_output_without_a_terminal_has_no_colour(desk: Desk):
    desk.run("nothing")
    assert "\x1b" not in desk.plait("runs").out


# -- show --------------------------------------------------------------------------------------------------------


@both_ways
def test_show_has_everything_about_a_run(desk: Desk):
    desk.run("sums", "--id", "s", "--input", "2", "--label", "team=tea")
    ran = desk.plait("show", "s")
    for part in (
        "run       s",
        "workflow  sums",
        "status    completed",
        "labels    team=tea",
        "input     2",
        "output    3",
    ):
        assert part in ran.out
    assert "└── ✓ rounds  loop" in ran.out
    assert "✓ loop 2 / add  step" in ran.out


@both_ways
def test_show_as_a_document(desk: Desk):
    desk.run("sums", "--id", "s", "--input", "2")
    found = desk.plait("show", "s", "--json").json
    assert (found["input"], found["output"], found["status"], found["waiting"]) == (2, 3, "completed", [])
    assert [node["id"] for node in found["nodes"]] == ["rounds", "rounds/~0/add", "rounds/~1/add"]


@both_ways
def test_show_says_where_a_run_failed(desk: Desk):
    (desk.folder / "closed").touch()
    desk.run("gated", "--id", "g")
    ran = desk.plait("show", "g")
    assert "✓ before  step" in ran.out
    assert "✗ gate  step  2 attempts" in ran.out
    assert "[step.exhausted]" in ran.out


@both_ways
def test_finished_operations_are_folded_unless_all_are_asked_for(desk: Desk):
    desk.run("sums", "--id", "s", "--input", "15")
    assert "… 7 finished operations before" in desk.plait("show", "s").out
    assert "loop 1 / add" not in desk.plait("show", "s").out
    assert "loop 1 / add" in desk.plait("show", "s", "--all").out


@both_ways
def test_a_large_output_is_shown_whole_to_programs(desk: Desk):
    desk.run("hello", "--id", "h", "--input", json.dumps("x" * 100_000))
    assert desk.plait("show", "h", "--json").json["output"] == "hello " + "x" * 100_000
    assert len(desk.plait("show", "h").out) < 10_000


@both_ways
def test_what_users_write_is_not_taken_for_markup(desk: Desk):
    desk.run("hello", "--id", "[red]x", "--input", '"[bold]:smile:[/bold]"')
    ran = desk.plait("show", "[red]x")
    assert "[red]x" in ran.out
    assert '"hello [bold]:smile:[/bold]"' in ran.out


# -- events ------------------------------------------------------------------------------------------------------


@both_ways
def test_events_are_json_lines(desk: Desk):
    desk.run("hello", "--id", "h", "--input", '"Ada"')
    found = [json.loads(line) for line in desk.plait("events", "h", "--json").out.splitlines()]
    assert [event["seq"] for event in found] == list(range(1, len(found) + 1))
    assert (found[0]["type"], found[-1]["type"]) == ("run.started", "run.completed")
    assert found[-1]["data"] == {"output": "hello Ada"}


@both_ways
def test_events_after_a_number_and_up_to_a_limit(desk: Desk):
    desk.run("hello", "--id", "h", "--input", '"Ada"')

    def numbers(*args: str) -> list[int]:
        return [json.loads(line)["seq"] for line in desk.plait("events", "h", "--json", *args).out.splitlines()]

    assert numbers("--after", "2", "--limit", "2") == [3, 4]
    assert numbers("--after", "99") == []
    assert desk.plait("events", "h", "--after", "99").out == "no events after 99\n"


@both_ways
def test_events_for_people_are_one_line_each(desk: Desk):
    desk.run("hello", "--id", "h", "--input", json.dumps("x" * 300))
    lines = desk.plait("events", "h").out.splitlines()
    assert "run.started" in lines[0]
    assert max(map(len, lines)) <= 80
    assert len(lines) == len(desk.plait("events", "h", "--json").out.splitlines())


# -- why ---------------------------------------------------------------------------------------------------------


def test_why_names_what_a_run_waits_for_and_what_to_do(desk: Desk):
    with desk.engine():
        desk.start("waits", "w")
        ran = desk.plait("why", "w")
        assert "w is waiting:\n  message `go`" in ran.out
        assert "→ to send it: plait message w NAME JSON" in ran.out
        assert "no engine" not in ran.out
    found = desk.plait("why", "w", "--json").json
    assert [reason["kind"] for reason in found["waiting"]] == ["message"]
    assert found["working"] is False


@step(queue="gpu")
async def render() -> int:
    return 1


@workflow
async def film(ctx: Context) -> int:
    return await ctx.step("render", render)


@workflow
async def cinema(ctx: Context) -> int:
    return await ctx.child("film", film, id="f")


def test_why_leads_from_a_parent_to_the_queue_that_needs_a_worker(desk: Desk):
    async def begin() -> None:
        async with Engine(desk.db, definitions=[cinema, film]) as engine:
            await engine.start(cinema, id="c")
            async for changes in engine.follow_runs(RunFilter(status="waiting", definition="film")):
                if changes.runs:
                    return

    asyncio.run(begin())
    assert "→ to see what that waits for: plait why f\n" in desk.plait("why", "c").out
    assert "→ to do its tasks: plait worker MODULE --queue gpu\n" in desk.plait("why", "f").out


def test_why_proposes_a_fork_where_a_retry_would_be_refused(desk: Desk):
    @workflow
    async def undone(ctx: Context) -> None:
        await ctx.step("reserve", lambda: 1, rollback=lambda _: None)
        raise ValueError("no stock")

    async def begin() -> None:
        async with Engine(desk.db, definitions=[undone]) as engine:
            with pytest.raises(RunFailed):
                await (await engine.start(undone, id="u")).result()

    asyncio.run(begin())
    told = desk.plait("why", "u").out
    assert "→ its steps were compensated; to do some again: plait fork u --at STEP\n" in told
    assert "plait retry" not in told


def test_why_says_that_no_engine_works(desk: Desk):
    with desk.engine():
        desk.start("waits", "w")
    desk.plait("message", "w", "go")
    ran = desk.plait("why", "w")
    assert "sent, but not taken by an engine yet: message" in ran.out
    assert "no engine is running on this database" in ran.out


@both_ways
def test_why_of_an_ended_run(desk: Desk):
    (desk.folder / "closed").touch()
    desk.run("gated", "--id", "g")
    desk.run("nothing", "--id", "n")
    assert "g has failed: gate failed after 2 attempts" in desk.plait("why", "g").out
    assert "plait retry g" in desk.plait("why", "g").out
    assert desk.plait("why", "n").out == "n has completed\n"


def test_looking_works_beside_a_living_engine(desk: Desk):
    with desk.engine():
        desk.start("waits", "w")
        for command in ("show", "events", "why"):
            assert desk.plait(command, "w").code == 0
        assert desk.plait("runs").code == 0
        assert desk.plait("check", desk.module).code == 0


def test_a_database_that_a_newer_plait_wrote_is_refused(desk: Desk, tmp_path: Path):
    desk.run("nothing")
    db = apsw.Connection(str(tmp_path / "plait.db"))
    db.execute("pragma user_version = 999")
    db.close()
    ran = desk.plait("runs", "--json")
    assert (ran.code, ran.problem["code"]) == (2, "store.schema_too_new")
