"""No script gets out of the sandbox or brings the engine down, and the next script has a worker."""

import os
from typing import Any

import pytest

from plait.scripts.lua import LuaError, LuaLimits, LuaPool
from tests.scripts.lua.corpus import LIMITS, Attack, attacks

_TIGHT = LuaLimits(seconds=0.3, instructions=20_000_000)
_LOOSE = LuaLimits(seconds=50, instructions=20_000_000)
"""For scripts that should end by themselves, however busy the machine is."""
_ALL = [*attacks("escapes"), *attacks("bombs")]
_SHARES = 8
"""A share of the corpus a test: a process takes long to start."""


@pytest.mark.parametrize("share", range(_SHARES))
async def test_each_attack_ends_as_it_should_and_the_pool_goes_on(share: int) -> None:
    wrong: list[str] = []
    pids: set[int] = set()
    async with LuaPool(1) as pool:
        for attack in _ALL[share::_SHARES]:
            value, error = await outcome(pool, attack)
            if not as_it_should(attack, value, error):
                wrong.append(f"{attack.title}: {str(error or value)[:300]}")
            after = await pool.run("return {answer = 6 * 7, left = io or made}", {}, [], "token", _LOOSE)
            assert after.value == {"answer": 42}, attack.title
            assert len(pool.pids) == 1
            pids |= pool.pids
    assert wrong == []
    assert not any(alive(pid) for pid in pids)


def test_the_corpus_is_large_and_its_titles_differ() -> None:
    assert len(_ALL) >= 120
    assert len({attack.title for attack in _ALL}) == len(_ALL)


async def outcome(pool: LuaPool, attack: Attack) -> tuple[Any, LuaError | None]:
    limits = _TIGHT if attack.codes >= LIMITS else _LOOSE
    try:
        return (await pool.run(attack.script, {}, [], "token", limits)).value, None
    except LuaError as error:
        return None, error


def as_it_should(attack: Attack, value: Any, error: LuaError | None) -> bool:
    if error is None:
        return not attack.codes and value == attack.value
    return error.code in attack.codes and len(str(error)) < 10_000 and len(error.printed) <= _TIGHT.lines + 1


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
