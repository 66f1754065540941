"""All of it together, as a process of ours uses it."""

import logging

import pytest

from plait import Engine
from plait.observe.observability import Observability
from tests.engine.places import until
from tests.observe.flows import chatty


@pytest.fixture(autouse=True)
def no_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")


@pytest.mark.usefixtures("output")
async def test_lines_are_kept_and_the_loop_is_watched_while_it_is_on():
    watch = Observability()
    engine = Engine("memory:", definitions=[chatty], observers=watch.observers)
    async with watch.on(engine), engine:
        handle = await engine.start(chatty, "hi", id="r1")
        await handle.result()
        await engine.kernel.task_logs.flush()
        kept = await engine.kernel.store.lines((await handle.row()).id, None, 0, 100)
        await until(lambda: dict(watch.metrics.lag.seconds.buckets())["+Inf"] > 0)
    assert [line.node for line in kept] == ["one", "two", "three"]


async def test_afterwards_the_process_is_as_it_was():
    before = list(logging.getLogger().handlers)
    watch = Observability()
    engine = Engine("memory:", observers=watch.observers)
    async with watch.on(engine), engine:
        assert logging.getLogger().handlers != before
    assert logging.getLogger().handlers == before


def test_without_a_word_of_the_environment_there_are_no_traces():
    watch = Observability()
    assert watch.traces is None
    assert watch.observers == [watch.metrics]
