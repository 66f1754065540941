"""Commands and servers: keys, namespaces, servers that are away, go away, or are none of ours."""

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from plait.server.site import Settings
from tests.cli.support import Desk, both_ways, environment, killed, read_until, server_on
from tests.support.processes import Process, start

served = pytest.mark.parametrize("desk", ["server"], indirect=True)


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address at which nobody listens, and nobody else can."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


@contextmanager
def server_process(desk: Desk, port: int = 0) -> Iterator[tuple[Process, str]]:
    """`plait serve` in a process of its own, to be killed."""
    args = ["serve", desk.module, "--open", "--json", "--log-level", "error"]
    args += ["--port", str(port), "--db", f"sqlite:///{desk.folder}/plait.db"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with killed(start("plait.cli.main", *args, cwd=desk.folder, env=environment(), **pipes)) as process:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())["url"]


@contextmanager
def guarded(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server that asks for a key; commands find it by PLAIT_DB."""
    with server_on(desk, Settings(open=False)) as url:
        monkeypatch.setenv("PLAIT_DB", url)
        yield


def new_key(desk: Desk, role: str, namespace: str = "default") -> str:
    ran = desk.plait("keys", "create", "ann", "--role", role, "-n", namespace, "--db", desk.db)
    assert ran.code == 0, ran.err
    return ran.out.strip()


# -- keys and namespaces -----------------------------------------------------------------------------------------


def test_a_key_opens_a_server(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    with guarded(desk, monkeypatch):
        key = new_key(desk, "operator")
        assert desk.plait("run", "hello", '"Ada"', "--key", key).out == '"hello Ada"\n'
        monkeypatch.setenv("PLAIT_KEY", key)
        assert len(desk.plait("runs", "--json").json) == 1


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ((), "auth.no_key"),
        (("--key", "plait_wrong"), "auth.bad_key"),
        (("--key", "with a blank"), "client.bad_key"),
        (("--key", "schlüssel"), "client.bad_key"),
    ],
)
@pytest.mark.parametrize("command", [("runs",), ("show", "x"), ("cancel", "x"), ("run", "hello", '"Ada"')])
def test_without_a_good_key_nothing_is_done(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], args: tuple[str, ...], code: str
):
    with guarded(desk, monkeypatch):
        ran = desk.plait(*command, *args, "--json")
        assert (ran.code, ran.out, ran.problem["code"]) == (2, "", code)
        assert "Traceback" not in ran.err


def test_a_refusal_says_how_to_give_a_key(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    with guarded(desk, monkeypatch):
        assert "--key or PLAIT_KEY" in desk.plait("runs").err


def test_a_role_that_is_not_enough(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    with guarded(desk, monkeypatch):
        monkeypatch.setenv("PLAIT_KEY", new_key(desk, "viewer"))
        assert desk.plait("runs").out == "no runs\n"
        ran = desk.plait("run", "hello", '"Ada"', "--json")
        assert (ran.code, ran.problem["code"]) == (2, "auth.forbidden")


def test_a_key_knows_its_namespace(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    with guarded(desk, monkeypatch):
        monkeypatch.setenv("PLAIT_KEY", new_key(desk, "operator", "shop"))
        assert desk.plait("run", "hello", '"Ada"', "--id", "h", "--json").json["namespace"] == "shop"
        assert desk.plait("show", "h", "--json").json["namespace"] == "shop"


def test_another_namespace_than_the_keys_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    with guarded(desk, monkeypatch):
        monkeypatch.setenv("PLAIT_KEY", new_key(desk, "operator", "shop"))
        desk.plait("run", "nothing", "--id", "n")
        assert desk.plait("runs", "-n", "default", "--json").problem["code"] == "auth.wrong_namespace"
        assert desk.plait("show", "n", "-n", "default", "--json").problem["code"] == "kernel.no_run"


# -- people ------------------------------------------------------------------------------------------------------


def test_a_server_keeps_the_name_of_the_key_with_an_answer(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    with guarded(desk, monkeypatch):
        monkeypatch.setenv("PLAIT_KEY", new_key(desk, "admin"))
        with killed(desk.spawn("run", "asks", "--id", "a")) as process:
            read_until(process.stderr, "◌")
            refused = desk.plait("approve", "a", "--by", "somebody", "--json")
            assert refused.problem["code"] == "client.answers_by_key"
            assert desk.plait("approve", "a", "--comment", "fine").out == "run a: `ok` approved; the server has it\n"
            out, _ = process.communicate()
        assert json.loads(out) == {"approved": True, "by": "ann", "comment": "fine"}


# -- run ---------------------------------------------------------------------------------------------------------


@both_ways
def test_input_may_follow_the_name(desk: Desk):
    name = f"{desk.module}:hello" if desk.db.startswith("sqlite") else "hello"
    assert desk.plait("run", name, '"Ada"').out == '"hello Ada"\n'
    twice = desk.plait("run", name, '"Ada"', "--input", '"Bob"', "--json")
    assert twice.problem["code"] == "cli.two_inputs"


@served
def test_code_can_not_be_sent_to_a_server(desk: Desk):
    ran = desk.plait("run", f"{desk.module}:hello", "--json")
    assert (ran.code, ran.problem["code"]) == (2, "cli.bad_target")
    assert "`hello`" in ran.problem["fix"]


@served
def test_a_workflow_that_the_server_does_not_know(desk: Desk):
    ran = desk.plait("run", "helo", "--json")
    assert (ran.code, ran.problem["code"]) == (2, "CODE_NOT_LOADED")


@served
def test_an_interrupted_run_goes_on_on_the_server(desk: Desk):
    with killed(desk.spawn("run", "waits", "--id", "w")) as process:
        read_until(process.stderr, "◌ go")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert "interrupted: run w continues on the server" in err
    assert f"plait run waits --id w --db {desk.db}" in err
    desk.plait("message", "w", "go", "7")
    assert desk.run("waits", "--id", "w").out == '{"got":7}\n'


@served
def test_a_cancelled_run_has_its_own_exit_code(desk: Desk):
    desk.start("waits", "w")
    desk.plait("cancel", "w", "--reason", "enough")
    ran = desk.run("waits", "--id", "w")
    assert ran.code == 3
    assert "run w cancelled: enough" in ran.err


def test_a_blocked_run_is_told_through_a_server(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    desk.start("waits", "w")
    source = (desk.folder / f"{desk.module}.py").read_text()
    desk.write(source.replace('"before"', '"earlier"'))
    with server_on(desk) as url:
        monkeypatch.setenv("PLAIT_DB", url)
        desk.plait("message", "w", "go")
        ran = desk.plait("run", "waits", "--id", "w", "--json")
        assert (ran.code, ran.json["blocked"]["code"]) == (4, "CODE_DIVERGED")
        assert "is blocked" in desk.plait("why", "w").out
        assert [run["id"] for run in desk.plait("runs", "--status", "blocked", "--json").json] == ["w"]


@served
def test_why_does_not_guess_about_engines_behind_a_server(desk: Desk):
    desk.start("waits", "w")
    found = desk.plait("why", "w", "--json").json
    assert [reason["kind"] for reason in found["waiting"]] == ["message"]
    assert "working" not in found
    assert "plait message w NAME JSON" in desk.plait("why", "w").out


# -- doctor ------------------------------------------------------------------------------------------------------


@served
def test_doctor_examines_a_server(desk: Desk):
    found = desk.plait("doctor", "--json")
    assert (found.code, found.json["well"]) == (0, True)
    assert found.json["facts"]["server"] == desk.db
    assert found.json["facts"]["you"] == "anybody: it is open"
    assert found.json["facts"]["ready"].startswith("yes")
    (desk.folder / "closed").touch()
    desk.run("gated")
    assert [problem["code"] for problem in desk.plait("doctor", "--json").json["problems"]] == ["doctor.dead_letters"]


def test_doctor_says_that_a_key_is_wrong_and_that_the_server_is_well(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    with guarded(desk, monkeypatch):
        ran = desk.plait("doctor", "--key", "plait_wrong", "--json")
    assert ran.code == 1
    assert ran.json["facts"]["ready"].startswith("yes")
    assert [problem["code"] for problem in ran.json["problems"]] == ["auth.bad_key"]


def test_doctor_of_a_server_that_is_away(desk: Desk, nobody: str):
    ran = desk.plait("doctor", "--db", nobody, "--json")
    assert (ran.code, [problem["code"] for problem in ran.json["problems"]]) == (1, ["client.no_server"])


# -- what is no server, or none any more -------------------------------------------------------------------------

COMMANDS = [
    ("runs",),
    ("show", "x"),
    ("events", "x", "--follow"),
    ("logs", "x", "--follow"),
    ("diff", "x", "y"),
    ("definitions",),
    ("why", "x"),
    ("cancel", "x"),
    ("retry", "x"),
    ("fork", "x"),
    ("message", "x", "go"),
    ("approve",),
    ("approve", "x"),
    ("dlq",),
    ("dlq", "retry", "x"),
    ("run", "hello"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_server_that_is_away_is_one_clear_line(desk: Desk, nobody: str, command: tuple[str, ...]):
    ran = desk.plait(*command, "--db", nobody)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"error: no server responds at {nobody}: connection refused. To fix: start it: plait serve [client.no_server]\n"
    )


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://", "client.bad_url"),
        ("http://host:many", "client.bad_url"),
        ("http://[::1", "client.bad_url"),
        ("https://ann:secret@127.0.0.1", "client.bad_url"),
        ("http://127.0.0.1/?x=1", "client.bad_url"),
        ("http://no-such-host.invalid", "client.no_server"),
    ],
)
def test_an_address_that_is_none(desk: Desk, url: str, code: str):
    ran = desk.plait("runs", "--db", url, "--json")
    assert (ran.code, ran.problem["code"]) == (2, code)
    assert "secret" not in ran.err


@pytest.mark.parametrize("command", [("check", "{module}"), ("keys", "list"), ("serve",), ("dev",)], ids=" ".join)
def test_commands_that_need_the_database_itself_say_so(desk: Desk, command: tuple[str, ...]):
    args = [part.format(module=desk.module) for part in command]
    ran = desk.plait(*args, "--db", "http://127.0.0.1:1", "--json")
    assert (ran.code, ran.problem["code"]) == (2, "cli.needs_database")


def test_another_program_is_not_taken_for_plait(desk: Desk):
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<h1>It works!</h1>")

        def log_message(self, format: str, *args: object) -> None:
            return None

    with HTTPServer(("127.0.0.1", 0), Page) as other:
        thread = Thread(target=other.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        ran = desk.plait("runs", "--db", f"http://127.0.0.1:{other.server_port}")
        other.shutdown()
        thread.join()
    assert ran.code == 2
    assert "is not a Plait server: it responds with text/html, not with JSON" in ran.err


def test_a_server_that_dies_while_it_is_followed(desk: Desk):
    with (
        server_process(desk) as (server, url),
        killed(desk.spawn("run", "waits", "--id", "w", "--db", url)) as running,
    ):
        read_until(running.stderr, "◌ go")
        with desk.following("events", "w", "--db", url) as following:
            read_until(following.stdout, "go")
            server.kill()
            for watcher in (following, running):
                _, err = watcher.communicate()
                assert watcher.returncode == 2
                assert err.splitlines()[-1].startswith(f"error: lost the connection to {url}")
                assert err.endswith("[client.lost]\n")
                assert "Traceback" not in err


def test_a_server_that_comes_back_is_followed_on(desk: Desk):
    desk.start("waits", "w")
    with (
        server_process(desk) as (server, url),
        desk.following("events", "w", "--json", "--db", url) as following,
        killed(desk.spawn("run", "waits", "--id", "w", "--db", url)) as running,
    ):
        read_until(following.stdout, '"at":"go"')
        read_until(running.stderr, "◌ go")
        server.kill()
        server.wait()
        with server_process(desk, int(url.rpartition(":")[2])):
            assert desk.plait("message", "w", "go", "7", "--db", url).code == 0
            out, err = following.communicate()
            assert running.communicate()[0] == '{"got":7}\n'
    assert (following.returncode, err) == (0, "")
    found = [json.loads(line) for line in out.splitlines()]
    assert found[-1]["data"] == {"output": {"got": 7}}
    assert [event["seq"] for event in found] == list(range(found[0]["seq"], found[-1]["seq"] + 1))
