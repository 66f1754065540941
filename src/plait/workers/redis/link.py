"""The connection to Redis, with all commands in one place. While it is unavailable, all raise `Unavailable`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from plait.extras import extra
from plait.kernel.errors import Unavailable

from .names import (
    GROUP,
    agent_jobs,
    agent_kept,
    agent_offers,
    agent_results,
    agent_results_in_flight,
    in_flight,
    signals,
)
from .settings import RedisSettings

_SURVEY = files("plait.workers.redis").joinpath("survey.lua").read_text()
_CONNECT_SECONDS = 5
_ANSWER_SECONDS = 10
"""Longer than any blocking command waits in Redis."""
UNREACHABLE = "redis.unreachable"
_ANSWER_KEPT = 600
"""Seconds."""
CONSUMER_KEPT = 86_400_000
"""Milliseconds since it last asked. Workers that start anew have new names, and a look at a stream reads them all."""
_BATCH = 200
"""Results taken at once."""

EntryId = str
Entry = Mapping[str, str | bytes]


@dataclass(frozen=True, slots=True)
class Survey:
    """The content of a stream."""

    now: int
    """Redis' own clock, in milliseconds: entry ids contain it."""
    entries: Sequence[EntryId]
    last_delivered: EntryId
    idle: Mapping[EntryId, int]
    """Milliseconds since each entry held by a consumer was delivered or claimed again."""
    consumers: Sequence[int]
    """Milliseconds since each consumer last read."""

    def is_delivered(self, entry: EntryId) -> bool:
        return order(entry) <= order(self.last_delivered)

    @property
    def undelivered(self) -> list[EntryId]:
        return [entry for entry in self.entries if not self.is_delivered(entry)]


def order(entry: EntryId) -> tuple[int, int]:
    millis, _, number = entry.partition("-")
    return int(millis), int(number)


class Link:
    def __init__(self, settings: RedisSettings) -> None:
        with extra("redis", "the Redis hot path"):
            from redis import asyncio as client
            from redis.backoff import NoBackoff
            from redis.exceptions import RedisError
            from redis.retry import Retry

        self._errors = (RedisError, OSError)
        self._shown = settings.shown
        self._redis: Any = client.from_url(  # pyright: ignore[reportUnknownMemberType]
            settings.url,
            socket_connect_timeout=_CONNECT_SECONDS,
            socket_timeout=_ANSWER_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )

    async def close(self) -> None:
        await self._redis.aclose()

    async def ping(self) -> str:
        """The server's name and version."""
        async with self._reached():
            found = await self._redis.info("server")
        name = str(found.get("server_name") or "redis")
        return f"{name} {found.get(f'{name}_version') or found.get('redis_version')}"

    # -- streams -------------------------------------------------------------------------------------------------

    async def survey(self, stream: str) -> Survey:
        async with self._reached():
            found = await self._redis.eval(_SURVEY, 1, stream, GROUP, CONSUMER_KEPT)
        (seconds, micros), entries, last, pending, idle = found
        return Survey(
            now=int(seconds) * 1000 + int(micros) // 1000,
            entries=[entry.decode() for entry in entries],
            last_delivered=last.decode(),
            idle={each[0].decode(): int(each[2]) for each in pending},
            consumers=[int(each) for each in idle],
        )

    async def add(self, stream: str, entries: Iterable[Entry]) -> list[EntryId]:
        async with self._reached(), self._redis.pipeline(transaction=False) as pipe:
            for entry in entries:
                pipe.xadd(stream, entry)
            return [found.decode() for found in await pipe.execute()]

    async def entry(self, stream: str, id: EntryId) -> Mapping[bytes, bytes]:
        """The fields of an entry; empty if it is gone."""
        async with self._reached():
            found = await self._redis.xrange(stream, id, id)
        return found[0][1] if found else {}

    async def remove(self, stream: str, ids: Sequence[EntryId]) -> None:
        """Removes entries, delivered or not."""
        if not ids:
            return
        async with self._reached(), self._redis.pipeline(transaction=True) as pipe:
            pipe.xack(stream, GROUP, *ids)
            pipe.xdel(stream, *ids)
            await pipe.execute()

    async def withdraw(self, stream: str, id: EntryId) -> bool:
        """Withdraws an entry that nobody has taken; False: someone has it, and keeps it."""
        async with self._reached(), self._redis.pipeline(transaction=True) as pipe:
            pipe.xdel(stream, id)
            pipe.xpending_range(stream, GROUP, id, id, 1)
            _, pending = await pipe.execute(raise_on_error=False)
        return not pending or isinstance(pending, Exception)

    # -- results -------------------------------------------------------------------------------------------------

    async def taken(self, target: str) -> list[bytes]:
        """Results that an engine took and has not recorded, as far as Redis knows. `target`: the list of those in
        flight."""
        async with self._reached():
            return await self._redis.lrange(target, 0, -1)

    async def take(self, namespace: str, seconds: float) -> list[bytes]:
        """Waits for results, and moves them to the in-flight list."""
        source, target = signals(namespace), in_flight(namespace)
        async with self._reached():
            first = await self._redis.blmove(source, target, seconds, "LEFT", "RIGHT")
            if first is None:
                return []
            more = min(await self._redis.llen(source), _BATCH)
            async with self._redis.pipeline(transaction=False) as pipe:
                for _ in range(more):
                    pipe.lmove(source, target, "LEFT", "RIGHT")
                return [first, *(found for found in await pipe.execute() if found is not None)]

    async def recorded(self, target: str, results: Iterable[bytes]) -> None:
        async with self._reached(), self._redis.pipeline(transaction=False) as pipe:
            for result in results:
                pipe.lrem(target, 1, result)
            await pipe.execute()

    async def answer(self, key: str, body: bytes) -> None:
        """Answers a waiting worker; kept for ten minutes."""
        async with self._reached(), self._redis.pipeline(transaction=True) as pipe:
            pipe.rpush(key, body)
            pipe.expire(key, _ANSWER_KEPT)
            await pipe.execute()

    # -- jobs in lists -------------------------------------------------------------------------------------------

    async def offer_job(self, namespace: str, job_id: str, job: bytes, offer: bytes) -> None:
        async with self._reached(), self._redis.pipeline(transaction=True) as pipe:
            pipe.rpush(agent_jobs(namespace), job)
            pipe.hset(agent_offers(namespace), job_id, offer)
            await pipe.execute()

    async def offered_jobs(self, namespace: str) -> dict[str, bytes]:
        """The stored state of offered jobs, by id."""
        async with self._reached():
            found = await self._redis.hgetall(agent_offers(namespace))
        return {id.decode(): body for id, body in found.items()}

    async def waiting_jobs(self, namespace: str) -> list[bytes]:
        """Jobs that no worker has taken."""
        async with self._reached():
            return await self._redis.lrange(agent_jobs(namespace), 0, -1)

    async def note_job(self, namespace: str, job_id: str, offer: bytes) -> None:
        async with self._reached():
            await self._redis.hset(agent_offers(namespace), job_id, offer)

    async def withdraw_job(self, namespace: str, job_id: str, job: bytes) -> bool:
        """Withdraws a job that nobody has taken; False: someone has it, and keeps it."""
        async with self._reached():
            gone = await self._redis.lrem(agent_jobs(namespace), 1, job)
            if gone:
                await self._redis.hdel(agent_offers(namespace), job_id)
        return bool(gone)

    async def forget_job(self, namespace: str, job_id: str) -> None:
        async with self._reached(), self._redis.pipeline(transaction=True) as pipe:
            pipe.hdel(agent_offers(namespace), job_id)
            pipe.delete(agent_results(namespace, job_id), agent_kept(namespace, job_id))
            await pipe.execute()

    async def take_results(self, namespace: str, job_ids: Iterable[str]) -> list[bytes]:
        """The existing results of these jobs, moved to the in-flight list."""
        target = agent_results_in_flight(namespace)
        async with self._reached(), self._redis.pipeline(transaction=False) as pipe:
            for id in job_ids:
                pipe.lmove(agent_results(namespace, id), target, "LEFT", "RIGHT")
            return [found for found in await pipe.execute() if found is not None]

    # -- observers -----------------------------------------------------------------------------------------------

    async def do(self, commands: Iterable[Sequence[Any]]) -> None:
        """Runs commands whose answers are not needed."""
        async with self._reached(), self._redis.pipeline(transaction=False) as pipe:
            for command in commands:
                pipe.execute_command(*command)
            await pipe.execute(raise_on_error=False)

    @asynccontextmanager
    async def _reached(self) -> AsyncGenerator[None]:
        try:
            yield
        except self._errors as error:
            raise Unavailable(
                UNREACHABLE,
                f"Redis at {self._shown} can't be reached",
                why=str(error) or type(error).__name__,
                fix="check that it runs and that its address and password are right; tasks wait in the database",
            ) from error
