"""A live stream over a connection that breaks."""

import json

import pytest

from plait.client import Client
from plait.client.sse import Frame, Frames
from plait.errors import NotFound, Unavailable

from .scripted import DROP, answer, scripted, stream

FOUND = answer('{"events":[]}')
END = 'event: end\ndata: {"status":"completed"}\n\n'


def event(seq: int) -> str:
    return f"id: {seq}\ndata: {json.dumps({'seq': seq, 'at': 1, 'type': 'x', 'data': {}})}\n\n"


async def follow(client: Client) -> list[int]:
    run = await client.get("r")
    return [event.seq async for batch in run.follow() for event in batch]


async def test_a_broken_stream_goes_on_after_the_last_event():
    answers = (FOUND, stream(": alive\n\n", event(1), event(2)), DROP, stream(event(3), END))
    async with scripted(*answers) as server, Client(server.url) as client:
        assert await follow(client) == [1, 2, 3]
        afters = [line.partition("after=")[2].partition("&")[0] for line in server.asked[1:]]
        assert afters == ["0", "2", "2"]


async def test_an_event_that_came_in_half_is_asked_for_again():
    answers = (FOUND, stream(event(1), event(2)[:-1]), stream(event(2), END))
    async with scripted(*answers) as server, Client(server.url) as client:
        assert await follow(client) == [1, 2]


async def test_a_server_that_does_not_come_back():
    async with scripted(FOUND, stream(event(1)), *[DROP] * 10) as server, Client(server.url, patience=0.3) as client:
        with pytest.raises(Unavailable) as raised:
            await follow(client)
    assert raised.value.code == "client.lost"
    assert "after event 1" in raised.value.fix


async def test_a_run_that_is_gone_is_not_waited_for():
    body = '{"type":"urn:plait:error:kernel.no_run","title":"no","status":404,"detail":"no","code":"kernel.no_run"}'
    gone = answer(body, "404 Not Found", "application/problem+json")
    async with scripted(FOUND, stream(event(1)), gone) as server, Client(server.url) as client:
        with pytest.raises(NotFound):
            await follow(client)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_frames_are_the_same_however_they_are_cut(size: int):
    text = (": alive\n\n" + event(1) + END + "data: a\ndata: b\n\n").encode()
    frames = Frames()
    found = [frame for at in range(0, len(text), size) for frame in frames.feed(text[at : at + size])]
    assert [frame.event for frame in found] == ["message", "end", "message"]
    assert found[2] == Frame("message", b"a\nb")
