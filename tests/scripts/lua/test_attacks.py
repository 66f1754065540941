"""No script gets out of the sandbox or brings the engine down, and the next script has a worker."""

import os
from typing import Any

import pytest

from plait.scripts.lua import LuaError, LuaLimits, LuaPool
from tests.scripts.lua.corpus import Attack, attacks

_TIGHT = LuaLimits(seconds=2, instructions=20_000_000)
_ALL = [*attacks("escapes"), *attacks("bombs")]


@pytest.mark.parametrize("attack", _ALL, ids=lambda attack: attack.title)
async def test_an_attack_ends_as_it_should_and_the_pool_goes_on(attack: Attack) -> None:
    async with LuaPool(1) as pool:
        value, error = await outcome(pool, attack.script)
        if error is None:
            assert not attack.codes, f"it returned {str(value)[:200]}"
            assert value == attack.value
        else:
            assert error.code in attack.codes, str(error)[:500]
            assert len(str(error)) < 10_000
            assert len(error.printed) <= _TIGHT.lines + 1
        after = await pool.run("return {answer = 6 * 7, left = io or made}", {}, [], "token")
        assert after.value == {"answer": 42}
        pids = pool.pids
    assert len(pids) == 1
    assert not any(alive(pid) for pid in pids)


def test_the_corpus_is_large_and_its_titles_differ() -> None:
    assert len(_ALL) >= 120
    assert len({attack.title for attack in _ALL}) == len(_ALL)


async def outcome(pool: LuaPool, script: str) -> tuple[Any, LuaError | None]:
    try:
        return (await pool.run(script, {}, [], "token", _TIGHT)).value, None
    except LuaError as error:
        return None, error


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
