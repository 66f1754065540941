"""No script gets out of the sandbox or brings the engine down, and the next script has a worker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec import Raw

from plait.kernel import values
from plait.kernel.errors import PlaitError
from plait.scripts.javascript import JavaScriptError, JavaScriptLimits, JavaScriptPool
from tests.scripts.javascript.corpus import LIMITS, Attack, attacks

_TIGHT = JavaScriptLimits(seconds=0.3)
_LOOSE = JavaScriptLimits(seconds=5)
"""For scripts that should end by themselves, however busy the machine is."""
_ALL = [*attacks("escapes"), *attacks("bombs")]
_SHARES = 8
"""A share of the corpus a test: a process takes long to start."""
_CANARY = "export default ({ n }) => ({ answer: n * 7, left: typeof leaked + typeof Object.prototype.polluted })"


@pytest.mark.parametrize("share", range(_SHARES))
async def test_each_attack_ends_as_it_should_and_the_pool_goes_on(share: int) -> None:
    wrong: list[str] = []
    async with pool(2) as found:
        for attack in _ALL[share::_SHARES]:
            ended = await outcome(found, attack)
            if ended != "as it should":
                wrong.append(f"{attack.title}: {ended}")
            after = await found.run(_CANARY, Raw(b'{"n": 6}'))
            assert after.value == {"answer": 42, "left": "undefinedundefined"}, attack.title
    assert wrong == []


async def test_others_go_on_while_an_attack_runs() -> None:
    async with pool(3) as found:
        endless = [
            asyncio.ensure_future(found.run(script, Raw(b"{}"), JavaScriptLimits(seconds=30)))
            for script in ("export default () => { for (;;); }", "export default async () => { for (;;) await null; }")
        ]
        for _ in range(5):
            assert (await found.run(_CANARY, Raw(b'{"n": 6}'))).value["answer"] == 42
        assert not any(task.done() for task in endless)
        for task in endless:
            task.cancel()
        await asyncio.gather(*endless, return_exceptions=True)


def test_the_corpus_is_large_and_its_titles_differ() -> None:
    assert len(_ALL) >= 120
    assert len({attack.title for attack in _ALL}) == len(_ALL)


async def outcome(found: JavaScriptPool, attack: Attack) -> str:
    try:
        result = await found.run(attack.script, Raw(b"{}"), _TIGHT if attack.codes == LIMITS else _LOOSE)
        values.encode(result.value)
    except JavaScriptError as error:
        bounded = len(str(error)) < 10_000 and len(error.printed) <= _TIGHT.lines + 1
        return "as it should" if bounded and error.code in attack.codes else str(error)[:300]
    except PlaitError:  # a value that no store can keep: the language's adapter says so with the same code
        return "as it should" if "code_bad_output" in attack.codes else "its value can't be kept"
    return _returned(result.value, attack)


def _returned(value: Any, attack: Attack) -> str:
    if attack.codes or value != attack.value:
        return f"it returned {str(value)[:200]}"
    return "as it should"


@asynccontextmanager
async def pool(size: int) -> AsyncIterator[JavaScriptPool]:
    async with JavaScriptPool(size) as made:
        yield made
