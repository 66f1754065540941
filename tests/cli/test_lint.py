"""The lint of workflow functions, by their source alone."""

import textwrap

import pytest

from plait.dialects.code.determinism_lint import lint

HEAD = """\
import asyncio, datetime as dt, os, random, subprocess, time, uuid
from datetime import date, datetime
from pathlib import Path
from random import choice
from time import monotonic as tick
import requests
from plait import Context, Loop, step, workflow
"""


def warnings(source: str, workflow: str = "w") -> list[tuple[int, str]]:
    """Line, counted from the first of `source`, and code of each warning."""
    text = HEAD + textwrap.dedent(source)
    first = 1 + text.splitlines().index("@workflow")
    offset = HEAD.count("\n")
    return [(found.line - offset, found.code) for found in lint(text, "app.py", {first: workflow})]


def inside(*lines: str) -> list[str]:
    """Codes of the warnings about a workflow of these lines."""
    body = "".join(f"    {line}\n" for line in lines)
    return [code for _, code in warnings(f"@workflow\nasync def w(ctx: Context, n: int):\n{body}")]


@pytest.mark.parametrize(
    "line",
    ["time.time()", "datetime.now()", "dt.datetime.utcnow()", "date.today()", "tick()", "time.sleep(1)"],
)
def test_the_clock(line: str):
    assert inside(line) == ["clock"]


@pytest.mark.parametrize(
    "line",
    ["random.random()", "choice([1, 2])", "uuid.uuid4()", "os.urandom(8)", "random.Random().random()"],
)
def test_chance(line: str):
    assert inside(line) == ["random"]


@pytest.mark.parametrize(
    "line",
    [
        "open('f')",
        "requests.get('http://x')",
        "Path('f').read_text()",
        "subprocess.run(['ls'])",
        "os.environ['HOME']",
        "os.getenv('HOME')",
        "await asyncio.to_thread(print)",
        "x = f'{input()}'",
    ],
)
def test_the_world_outside(line: str):
    assert inside(line) == ["io"]


@pytest.mark.parametrize(
    "line",
    [
        "ctx.now(); ctx.random().random(); ctx.uuid()",
        "random.Random(n).random()",
        "await ctx.step('a', lambda: open('f').read())",
        "await ctx.step('a', requests.get, 'http://x')",
        "await ctx.step('a', len, rollback=lambda undo: os.remove('f'))",
        "await asyncio.sleep(1)",
        "datetime.fromisoformat('2025-01-01')",
        "timeout = 3; timeout += n",
        "seen = []; seen.append(n)",
        "time = n; time.time()",
        "await ctx.join('j', {f'{i}': lambda c, i=i: c.sleep('s', i) for i in range(3)})",
    ],
)
def test_what_is_allowed(line: str):
    assert inside(line) == []


def test_a_nested_function_is_judged_by_its_use():
    assert inside(
        "def fetch(): return requests.get('http://x')",
        "await ctx.step('fetch', fetch)",
        "@step",
        "def named(): return open('f')",
        "await ctx.step('named', named)",
        "def plain(): return time.time()",
        "plain()",
    ) == ["clock"]


def test_functions_of_the_same_file_are_followed():
    found = warnings("""\
        def deadline(n):
            return time.time() + later(n)

        def later(n):
            return random.random()

        def unused():
            return time.time()

        @step
        def read():
            return open("f")

        async def part(c, n):
            await c.step("x", lambda: 1)
            return open("f")

        @workflow
        async def w(ctx, n):
            deadline(n)
            await part(ctx, n)
            await ctx.step("read", read)
        """)
    assert found == [(2, "clock"), (5, "random"), (16, "io")]


def test_an_outer_ctx_in_a_branch_or_a_body():
    assert inside(
        "async def body(c, s):",
        "    await ctx.step('x', len)",
        "    print(ctx.run_id, ctx.now())",
        "    return Loop.break_()",
        "await ctx.loop('l', body, state=0)",
        "await ctx.join('j', a=lambda c: ctx.sleep('s', 1), b=lambda ctx: ctx.sleep('s', 1))",
        "await ctx.race('r', {'a': lambda c: ctx.listen('m')})",
    ) == ["outer-ctx", "outer-ctx", "outer-ctx"]


def test_an_outer_ctx_two_scopes_further_in():
    assert inside(
        "async def outer(c):",
        "    async def inner(d):",
        "        await c.step('x', len)",
        "        return await d.step('y', len)",
        "    await c.join('in', inner=inner)",
        "await ctx.join('out', outer=outer)",
    ) == ["outer-ctx"]


def test_an_outer_variable_changed_in_a_body():
    found = warnings("""\
        @workflow
        async def w(ctx, n):
            seen, totals, count = [], {}, 0
            async def body(c, s):
                nonlocal count
                seen.append(s)
                totals["a"] = 1
                mine = []
                mine.append(1)
                mine[0] = 2
                return Loop.break_(len(seen))
            await ctx.loop("l", body, state=0)
            seen.append(1)
        """)
    assert found == [(5, "outer-variable"), (6, "outer-variable"), (7, "outer-variable")]


def test_a_global_changed_in_a_workflow():
    assert inside("global total", "total = 1") == ["outer-variable"]


def test_a_variable_of_the_module_changed_in_a_workflow():
    found = warnings("""\
        TOTALS = {}
        SEEN: list[int] = []
        LIMIT = 3

        async def helper(n):
            SEEN.append(n)

        @workflow
        async def w(ctx, n):
            TOTALS["a"] = n
            del TOTALS["a"]
            os.sep = "!"
            await helper(n)
            await ctx.step("a", lambda: SEEN.append(n))
            SEEN = [LIMIT]

        @workflow
        async def other(ctx, n):
            SEEN = []
            SEEN.append(LIMIT)
        """)
    assert found == [(6, "outer-variable"), *((line, "outer-variable") for line in (10, 11, 12))]


@pytest.mark.parametrize(
    "lines",
    [
        ["for x in {1, 2}:", "    await ctx.step(f'{x}', len)"],
        ["names = set(n)", "for x in names | {1}:", "    pass"],
        ["names: set[str] = load()", "[x for x in names]"],
        ["names = {str(x) for x in n}", "list(names)"],
        ["names = frozenset(n)", "', '.join(names.union(n))"],
        ["names = set(n)", "names.pop()"],
        ["names = set(n)", "await asyncio.gather(*names)"],
        ["names = set(n)", "dict.fromkeys(names)"],
        ["async for x in set(n):", "    pass"],
        ["names = set(n)", "def inner():", "    return [x for x in names]", "inner()"],
        ["enumerate(set(n) if n else frozenset())"],
        ["first, *rest = set(n)"],
        ["asyncio.as_completed([asyncio.sleep(1), other(2)])"],
        ["asyncio.as_completed(other(each) for each in n)"],
        ["for x in n.keys() & {1}:", "    pass"],
        ["list(n.items() - n.items())"],
    ],
)
def test_the_order_of_a_set(lines: list[str]):
    assert inside(*lines) == ["set-order"]


@pytest.mark.parametrize("line", ["hash('x') % 3", "await ctx.step(f'a{hash(n)}', n)", "id(n)"])
def test_what_differs_between_processes(line: str):
    assert inside(line) == ["random"]


@pytest.mark.parametrize(
    "lines",
    [
        ["for x in sorted({1, 2}):", "    pass"],
        ["names = set(n)", "sorted(x for x in names); sorted(list(names)); len(names); 3 in names"],
        ["names = set(n)", "{x for x in names}; {*names, 1}; sum(x for x in names)"],
        ["names = set(n)", "names = sorted(names)", "for x in names:", "    pass"],
        ["names = {1: 2}", "for x in names:", "    pass", "names.pop(1)"],
        ["tasks = {asyncio.create_task(ctx.sleep(f'{i}', i)) for i in range(3)}", "for t in tasks:", "    await t"],
        ["done, pending = await asyncio.wait(n)", "for t in pending:", "    t.cancel()"],
        ["await ctx.step('a', lambda: list(set(n)))"],
        ["asyncio.as_completed([asyncio.create_task(other(each)) for each in n])"],
        ["asyncio.as_completed([ctx.sleep('a', 1), ctx.sleep('b', 2)])"],
        ["stack = []", "stack.pop()"],
    ],
)
def test_what_does_not_depend_on_the_order_of_a_set(lines: list[str]):
    assert inside(*lines) == []


def test_a_line_can_be_marked_as_meant():
    assert inside("time.time()  # plait: ok") == []


def test_a_warning_says_what_to_do_instead():
    [found] = lint(
        "import time\nfrom plait import workflow\n@workflow\nasync def w(ctx):\n    time.time()\n", "app.py", {3: "w"}
    )
    assert found.message == "`time.time` is another on every replay: use `ctx.now()`"
    assert (found.file, found.line, found.workflow) == ("app.py", 5, "w")


def test_only_the_workflows_asked_for_are_looked_at():
    source = "import time\nasync def f(ctx):\n    time.time()\nasync def g(ctx):\n    time.time()\n"
    assert [found.workflow for found in lint(source, "a.py", {4: "g"})] == ["g"]
