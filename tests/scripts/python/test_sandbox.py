"""Python in a sandbox: no code gets out of it or brings the engine down, and the next one has a worker."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from time import monotonic
from typing import Any

import pytest

from plait import conditions
from plait.conditions import SandboxCall, Verdict, at_a_node
from plait.kernel.errors import Unavailable
from plait.scripts.python import PythonError, PythonLimits, PythonSandbox
from plait.scripts.python.condition import ConditionSandbox

SEED = '''
def evaluate(output, context):
    """
    output: current node output
    context: dict of all previous node outputs
    """
    # Complex business logic
    revenue = output.get('revenue', 0)
    previous_revenue = context.get('last_month', {}).get('output', {}).get('revenue', 0)

    growth_rate = (revenue - previous_revenue) / previous_revenue if previous_revenue > 0 else 0

    # Multi-factor decision
    if growth_rate > 0.2 and output.get('churn_rate', 1) < 0.05:
        return True

    return False
'''
LAST_MONTH = {"last_month": {"output": {"revenue": 100}, "metadata": {}}}


async def judged(sandbox: PythonSandbox, body: str, ms: int = 10_000, mb: int = 50) -> Verdict:
    code = "def evaluate(output, context):\n" + "\n".join(f"    {line}" for line in body.splitlines())
    return await ConditionSandbox(sandbox).evaluate(SandboxCall(code, ms, mb), {"n": 1, "word": "secret"}, {})


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ({"revenue": 130, "churn_rate": 0.01}, True),
        ({"revenue": 130, "churn_rate": 0.2}, False),
        ({"revenue": 110, "churn_rate": 0.01}, False),
        ({}, False),
    ],
)
async def test_the_example_of_the_seed(output: Any, expected: bool):
    async with PythonSandbox(2) as sandbox:
        ref = "cas://sha256:python_evaluator"
        source = {"type": "python_sandbox", "code_ref": ref, "timeout_ms": 1000, "max_memory_mb": 50}
        condition = conditions.compile(source, blobs={ref: SEED.encode()})
        facts = at_a_node(output, LAST_MONTH, None)
        assert await condition.judge_in(ConditionSandbox(sandbox), facts) == Verdict(expected)


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ("while True: pass", "sandbox_timeout", "it ran longer than 300 ms"),
        ("while True:\n  try:\n    while True: pass\n  except BaseException: pass", "sandbox_timeout", ""),
        ("n = 1\nfor i in range(1, 10**9): n *= i", "sandbox_timeout", ""),
        ("x = 'a' * 10**7\nfor _ in range(10**4): x = x.replace('a', 'b')", "sandbox_timeout", ""),
        ("while True: print('a' * 1000)", "sandbox_timeout", ""),
        ("x = []\nwhile True: x.append('a' * 10**5)", "sandbox_memory", "line 3: it took more than 50 MB"),
        ("return 'a' * 10**11 == ''", "sandbox_memory", ""),
        ("return 10**10**10 == 1", "sandbox_memory", ""),
        ("return sorted(list(range(10**8))) == []", "sandbox_memory", ""),
        ("return f'{1:>10000000000}' == ''", "sandbox_memory", ""),
        ("return evaluate(output, context)", "sandbox_error", "line 2: RecursionError"),
        ("return output['missing']", "sandbox_error", "line 2: KeyError in `return output['missing']`"),
        ("y = 1\nreturn y / 0 > 1", "sandbox_error", "line 3: ZeroDivisionError"),
        ("return open('/etc/passwd').read() == ''", "sandbox_error", "PermissionError"),
        ("return __import__('os') is None", "sandbox_error", "NameError"),
        ("return ().__class__.__bases__[0].__subclasses__() == []", "sandbox_error", ""),
        ("raise MemoryError(output['word'])", "sandbox_error", "line 2: MemoryError"),
        ("raise TimeoutError(output['word'])", "sandbox_error", "line 2: TimeoutError"),
        ("return 1", "not_boolean", "neither True nor False"),
        ("return None", "not_boolean", ""),
        ("return evaluate", "not_boolean", ""),
    ],
)
async def test_what_can_not_be_judged_says_why_and_the_next_one_runs(body: str, code: str, message: str):
    async with PythonSandbox(2) as sandbox:
        found = await judged(sandbox, body, ms=300 if code == "sandbox_timeout" else 10_000)
        assert found.value is None
        assert found.error is not None
        assert found.error.code == f"condition.{code}"
        assert message in found.error.message
        assert "secret" not in found.error.message
        assert await judged(sandbox, "return output['n'] == 1") == Verdict(True)


async def test_a_bomb_ends_soon_after_its_time_and_others_go_on_meanwhile():
    async with PythonSandbox(2) as sandbox:
        await judged(sandbox, "return True")
        started = monotonic()
        bomb = asyncio.create_task(judged(sandbox, "while True: pass", ms=500))
        others = 0
        while not bomb.done():
            assert await judged(sandbox, "return True") == Verdict(True)
            others += 1
        assert others > 5
        assert monotonic() - started < 5


async def test_limits_are_those_of_the_condition():
    async with PythonSandbox(2) as sandbox:
        body = "return len('a' * 30_000_000) > 0"
        assert (await judged(sandbox, body, mb=50)).value is True
        assert (await judged(sandbox, body, mb=10)).error is not None


async def test_composites_run_no_more_of_it_than_they_need():
    async with PythonSandbox(2) as sandbox:
        bomb = {"type": "python_sandbox", "code": "def evaluate(o, c):\n    while True: pass"}
        yes = {"type": "python_sandbox", "code": "def evaluate(o, c):\n    return o > 1"}
        condition = conditions.compile(
            {"type": "composite", "operator": "OR", "conditions": ["false", yes, {**yes, "timeout_ms": 500}, bomb]}
        )
        assert await condition.judge_in(ConditionSandbox(sandbox), at_a_node(2, {}, None)) == Verdict(True)


async def test_there_is_no_clock_and_no_chance():
    async with PythonSandbox(2) as sandbox:
        code = "import time, random\n[time.time(), random.random()]"
        assert await sandbox.run(code, {}) == await sandbox.run(code, {})


async def test_one_run_leaves_nothing_for_the_next():
    async with PythonSandbox(2) as sandbox:
        await sandbox.run("left = 1", {})
        with pytest.raises(PythonError, match="NameError"):
            await sandbox.run("left", {})


async def test_a_cancelled_run_frees_its_worker_at_once():
    sandbox = PythonSandbox(1)
    assert await sandbox.run("1 + 1", {}) == 2
    endless = asyncio.create_task(sandbox.run("while True: pass", {}, PythonLimits(seconds=60)))
    queued = asyncio.create_task(sandbox.run("1 + 2", {}))
    await asyncio.sleep(0)
    endless.cancel()
    with pytest.raises(asyncio.CancelledError):
        await endless
    assert await queued == 3
    await sandbox.stop()


async def test_after_the_stop_nothing_runs_and_no_process_is_left():
    sandbox = PythonSandbox(1)
    pid = await _pid(sandbox)
    endless = asyncio.create_task(sandbox.run("while True: pass", {}, PythonLimits(seconds=60)))
    await asyncio.sleep(0)
    await sandbox.stop()
    with pytest.raises((PythonError, Unavailable)):
        await endless
    with pytest.raises(Unavailable):
        await sandbox.run("1", {})
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_worker_killed_for_anothers_sake_is_replaced():
    sandbox = PythonSandbox(1)
    os.kill(await _pid(sandbox), 9)
    assert await sandbox.run("1 + 1", {}) == 2
    await sandbox.stop()


async def test_a_sandbox_never_used_costs_nothing():
    await PythonSandbox().stop()


def test_a_program_that_used_it_ends_well():
    """The asynchronous pool of the library made Python abort at its end, every other time."""
    program = (
        "import asyncio\n"
        "from plait.scripts.python import PythonSandbox\n"
        "async def main():\n"
        "    sandbox = PythonSandbox()\n"
        "    endless = asyncio.create_task(sandbox.run('while True: pass', {}))\n"
        "    print(await sandbox.run('1 + 1', {}))\n"
        "    endless.cancel()\n"
        "    await sandbox.stop()\n"
        "asyncio.run(main())\n"
    )
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=50)
        assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


async def _pid(sandbox: PythonSandbox) -> int:
    """Of its only worker."""
    await sandbox.run("1", {})
    (pid,) = sandbox.pids
    return pid
