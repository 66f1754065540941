"""Answers and failures, and which requests are sent again."""

import json
from typing import Any

import pytest

from plait.client import Client, Forbidden, Refused, Unauthorized
from plait.errors import Busy, Conflict, InvalidInput, NotFound, PlaitError, TooLarge, Unavailable
from plait.kernel.errors import Flaw

from .scripted import DROP, HANG, answer, scripted

ME = '{"name":"ann","role":"admin","namespace":"*","mode":"key","version":"9.9.9","namespaces":[],"news":true}'
DONE = '{"id":"r","status":"running"}'
STARTED = '{"id":"r","namespace":"default","status":"running"}'


def problem(status: int, code: str = "x.y", **more: Any) -> bytes:
    body = {"type": f"urn:plait:error:{code}", "title": "no", "status": status, "detail": "no", "code": code, **more}
    return answer(json.dumps(body), f"{status} Status", "application/problem+json", "retry-after: 0\r\n")


async def test_what_a_newer_server_says_more_is_no_error():
    async with scripted(answer(ME)) as server, Client(server.url) as client:
        assert (await client.me()).name == "ann"


@pytest.mark.parametrize(
    ("status", "cls"),
    [
        (400, Refused),
        (401, Unauthorized),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (410, Refused),
        (413, TooLarge),
        (422, InvalidInput),
        (500, PlaitError),
    ],
)
async def test_a_problem_is_raised_as_the_error_it_was(status: int, cls: type[PlaitError]):
    flaws = [{"code": "kernel.bad_form", "pointer": "/cents", "message": "too many"}]
    given = problem(status, "kernel.code", why="so", fix="do", errors=flaws)
    async with scripted(given) as server, Client(server.url) as client:
        with pytest.raises(cls) as raised:
            await client.me()
    error = raised.value
    assert type(error) is cls
    assert (error.code, error.what, error.why, error.fix) == ("kernel.code", "no", "so", "do")
    assert list(error.flaws) == [Flaw("kernel.bad_form", "/cents", "too many")]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (answer("<h1>hi</h1>", kind="text/html"), "client.not_plait"),
        (answer("not found", "404 Not Found", "text/plain"), "client.not_plait"),
        (answer("", "301 Moved", more="location: https://elsewhere/\r\n"), "client.not_plait"),
        (answer("{", "404 Not Found", "application/problem+json"), "client.not_plait"),
        (answer('{"who": "ann"}'), "client.other_version"),
        (problem(404, "http.no_route"), "client.other_version"),
        (HANG, "client.timeout"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "client.not_plait"),
    ],
)
async def test_what_is_not_plaits_answer_is_a_clear_error(given: bytes, code: str):
    async with scripted(given, given, given) as server, Client(server.url, timeout=0.2) as client:
        with pytest.raises(Unavailable) as raised:
            await client.me()
    assert raised.value.code == code


@pytest.mark.parametrize("failure", [DROP, problem(503), problem(429), answer("", "502 Bad Gateway", "text/html")])
async def test_a_look_is_tried_again(failure: bytes):
    async with scripted(failure, failure, answer(ME)) as server, Client(server.url) as client:
        assert (await client.me()).name == "ann"
        assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("failure", "cls"), [(problem(503), Unavailable), (problem(429), Busy), (DROP, Unavailable), (HANG, Unavailable)]
)
async def test_what_may_do_harm_twice_is_sent_once(failure: bytes, cls: type[PlaitError]):
    async with scripted(answer('{"events":[]}'), failure) as server, Client(server.url, timeout=0.2) as client:
        run = await client.get("r")
        with pytest.raises(cls):
            await run.retry()
        assert len(server.asked) == 2


@pytest.mark.parametrize("failure", [DROP, problem(503)])
async def test_a_start_a_message_and_a_cancel_are_sent_again(failure: bytes):
    answers = (failure, answer(STARTED), failure, answer('{"id":"m"}'), failure, answer(DONE))
    async with scripted(*answers) as server, Client(server.url) as client:
        run = await client.start("order")
        await run.message("go")
        await run.cancel()
        assert [line.rpartition("/")[2].partition("?")[0] for line in server.asked] == [
            *("runs", "runs"),
            *("messages", "messages"),
            *("cancel", "cancel"),
        ]


async def test_a_key_that_is_refused_is_not_sent_again():
    async with scripted(problem(429, "auth.slow_down")) as server, Client(server.url, "wrong") as client:
        with pytest.raises(Busy):
            await client.me()
        assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("id", "path"),
    [("a b", "a%20b"), ("a%2Fb", "a%252Fb"), ("?#", "%3F%23"), ("ü", "%C3%BC"), ("..", "%2E%2E"), (".", "%2E")],
)
async def test_an_id_may_hold_anything(id: str, path: str):
    async with scripted(answer('{"events":[]}')) as server, Client(server.url) as client:
        await client.get(id)
        assert server.asked == [f"GET /api/v1/runs/{path}/events?namespace=default&after=0&limit=1"]


@pytest.mark.parametrize("more", ["", "/", "/api/v1", "/api/v1/"])
async def test_the_address_may_be_written_in_several_ways(more: str):
    async with scripted(answer(ME)) as server, Client(server.url + more) as client:
        await client.me()
        assert server.asked == ["GET /api/v1/me"]
