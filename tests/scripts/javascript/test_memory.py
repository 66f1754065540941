"""A script that takes more memory than it may is told so, however small the piece was that did not fit.

QuickJS has no room for an error then and throws `null`, or can't even settle a promise: see `sandbox/heap.py`.
"""

import pytest
from msgspec import Raw

from plait.scripts.javascript import JavaScriptError, JavaScriptLimits, JavaScriptPool

_MEGABYTE = 1024 * 1024
_NO_INPUT = Raw(b"{}")
_THROWS_NULL = "export default () => { throw null; }"
_FILLS = {
    "objects": "export default () => { let all = null; for (;;) all = { all }; }",
    "objects beside a buffer": (
        "export default () => { const one = new ArrayBuffer(1e6); let all = null; for (;;) all = { all, one }; }"
    ),
    "objects while the module loads": "let all = null; for (;;) all = { all };\nexport default () => 1",
    "objects between awaits": (
        "let all = null;\nexport default async () => { for (;;) { all = { all }; await null; } }"
    ),
    "promises": "export default () => { const all = []; for (;;) all.push(new Promise(() => {})); }",
    "arrays": "export default () => { const all = []; for (;;) all.push(new Array(1000).fill(all.length)); }",
    "texts": "export default () => { const all = []; for (let n = 0; ; n++) all.push(`text ${n}`); }",
}


@pytest.mark.parametrize("fills", _FILLS)
async def test_a_script_that_fills_its_memory_meets_the_limit_of_memory(fills: str) -> None:
    async with JavaScriptPool(1) as pool:
        for more in range(0, 2000, 200):
            with pytest.raises(JavaScriptError) as failed:
                await pool.run(_FILLS[fills], _NO_INPUT, _up_to(2 * _MEGABYTE + more))
            assert failed.value.code == "code_memory", failed.value


async def test_null_that_a_script_throws_is_its_own_after_one_that_filled_the_memory_too() -> None:
    async with JavaScriptPool(1) as pool:
        for fills in _FILLS.values():
            with pytest.raises(JavaScriptError):
                await pool.run(fills, _NO_INPUT, _up_to(2 * _MEGABYTE))
            with pytest.raises(JavaScriptError, match="null was thrown") as failed:
                await pool.run(_THROWS_NULL, _NO_INPUT, _up_to(2 * _MEGABYTE))
            assert failed.value.code == "code_error"
        assert len(pool.pids) == 1


def _up_to(memory: int) -> JavaScriptLimits:
    return JavaScriptLimits(seconds=30, memory=memory)
