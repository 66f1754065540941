"""Connections beyond what a process has descriptors for are refused, and the operator hears of it."""

from __future__ import annotations

import asyncio
import logging
import resource

import pytest

from plait.server.connections import Connections, most_connections
from plait.server.site import Settings
from tests.server.serving import Served, serving, soon


async def connect(served: Served) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = served.url.removeprefix("http://").split(":")
    return await asyncio.open_connection(host, int(port))


async def test_one_connection_too_many_is_told_so_and_the_others_go_on(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.ERROR, "plait.server"):
        async with serving(settings=Settings(max_connections=2)) as served:
            held = [await connect(served) for _ in range(2)]
            held[0][1].write(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert b"200 OK" in await held[0][0].readline()
            reader, writer = await connect(served)
            answer = await reader.read()
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b"http.too_many_connections" in answer
            writer.close()
            for _, each in held:
                each.close()

            async def room() -> bool:
                return (await served.client.get("/health")).status_code == 200

            assert await soon(room)
    assert "refused 1 connections: 2 are open" in caplog.text
    assert "ulimit -n" in caplog.text


def test_a_flood_is_logged_every_ten_seconds_and_counted(caplog: pytest.LogCaptureFixture):
    now = [100.0]
    room = Connections(5, lambda: now[0])
    with caplog.at_level(logging.ERROR, "plait.server"):
        assert room.admits(5)
        assert [room.admits(6) for _ in range(1_000)] == [False] * 1_000
        now[0] += 10
        assert not room.admits(6)
    assert [record.args for record in caplog.records] == [(1, 5), (1_000, 5)]


def test_the_limit_leaves_descriptors_for_all_else():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        most = most_connections()
        assert most < resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
