"""Each language in each part that it can play: checked, called, asked for truth."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from plait.kernel import values
from plait.kernel.errors import Unavailable
from plait.scripts.errors import CompileError, ScriptError
from plait.scripts.languages import Language, Languages
from plait.scripts.offloading import MOST_ON_LOOP


@asynccontextmanager
async def languages() -> AsyncIterator[Languages]:
    found = Languages()
    try:
        yield found
    finally:
        await found.close()


async def call(language: Language, script: str, **given: Any) -> Any:
    async with languages() as found:
        return await found.call(language, script, sorted(given), values.encode(given), "token")


async def holds(language: Language, script: str, **given: Any) -> bool:
    async with languages() as found:
        return await found.holds(language, script, sorted(given), values.encode(given), "token")


async def flaw(language: Language, script: str, names: Sequence[str]) -> CompileError:
    async with languages() as found:
        with pytest.raises(CompileError) as caught:
            await found.check(language, script, names)
        return caught.value


@pytest.mark.parametrize(
    ("language", "script", "value"),
    [
        ("ale", "(+ a 1)", 6),
        ("ale", "{:x a :y [a]} ; a last comment", {"x": 5, "y": [5]}),
        ("ale", "missing", None),
        ("lua", "return a + 1", 6),
        ("lua", "return {x = a, y = {a}} -- a last comment", {"x": 5, "y": [5]}),
        ("lua", "return {a, a}", [5, 5]),
        ("lua", "return missing", None),
        ("lua", "local x = a", None),
        ("python", "a + 1", 6),
        ("python", "x = {'x': a, 'y': (a,)}\nx  # a last comment", {"x": 5, "y": [5]}),
        ("python", "missing", None),
        ("python", "x = a", None),
        ("jpath", "$.a", 5),
        ("jpath", "$['a', 'missing']", 5),
        ("jpath", "$['a', 'a']", [5, 5]),
        ("jpath", "$.a == 5", True),
    ],
)
async def test_a_call_gives_the_value(language: Language, script: str, value: Any) -> None:
    async with languages() as found:
        document = values.encode({"a": 5})
        assert await found.call(language, script, ("a", "missing"), document, "token") == value


@pytest.mark.parametrize(
    ("language", "script", "truth"),
    [
        ("ale", "#f", False),
        ("ale", "#t", True),
        ("ale", "none", True),
        ("ale", "0", True),
        ("lua", "return nil", False),
        ("lua", "return false", False),
        ("lua", "return 0", True),
        ("lua", "return ''", True),
        ("lua", "return null", True),
        ("python", "none", False),
        ("python", "0", False),
        ("python", "[0]", True),
        ("jpath", "$.none", True),
        ("jpath", "$.other", False),
        ("jpath", "$.none == 1", False),
        ("jpath", "$.none == null", True),
    ],
)
async def test_truth_is_that_of_the_language(language: Language, script: str, truth: bool) -> None:
    assert await holds(language, script, none=None) is truth


@pytest.mark.parametrize(
    ("language", "script", "text"),
    [
        ("ale", '\n(raise "no stock")', "line 2: no stock"),
        ("ale", "(+ a :x)", "line 1: "),
        ("lua", "local x = 1\nerror('no stock')", "line 2: no stock"),
        ("lua", "return a.b.c", "line 1: attempt to index"),
        ("lua", "return function() end", "function"),
        ("python", "x = 1\nraise ValueError('no stock')", "line 2: ValueError: no stock"),
        ("python", "import os", "line 1: the sandbox has no imports"),
        ("python", "'a' * 2_000_000", "2,000,002 bytes"),
        ("jpath", "$.b", "nothing matches $.b"),
    ],
)
async def test_a_failing_script_says_where_and_is_not_tried_again(language: Language, script: str, text: str) -> None:
    with pytest.raises(ScriptError) as caught:
        await call(language, script, a=5)
    assert str(caught.value).startswith(text) or text in str(caught.value)
    assert not caught.value.retryable


@pytest.mark.parametrize(
    ("language", "script", "message", "line"),
    [
        ("ale", "(> amount\n  amout)", "unknown name 'amout'", 2),
        ("ale", "(> amount", "", 1),
        ("lua", "return amount >\n amout", "unknown name 'amout'", 2),
        ("lua", "return amount\nend", "<eof> expected", 2),
        ("python", "amount >\\\n amout", "unknown name 'amout'", 2),
        ("python", "[x for x in [1]]\ndef f(y, *z): return y, z, len(z), user\nf(other)", "unknown name 'other'", 3),
        ("python", "amount +", "invalid syntax", 1),
        ("python", "x = 1\nfrom os import path", "no imports", 2),
        ("jpath", "$.amount > $.amout", "unknown name 'amout'", 1),
        ("jpath", "$.amount >", "it ends early", 1),
    ],
)
async def test_what_does_not_compile_is_found_before_it_runs(
    language: Language, script: str, message: str, line: int
) -> None:
    found = await flaw(language, script, ("amount", "user"))
    assert message in found.message
    assert found.line == line


@pytest.mark.parametrize(
    ("language", "name", "message"),
    [
        ("ale", "two words", "Ale can't have the name 'two words'"),
        ("ale", "if", "Ale can't have the name 'if'"),
        ("lua", "customer-id", "Lua can't have a variable with the name 'customer-id'"),
        ("lua", "end", "Lua can't have a variable with the name 'end'"),
        ("python", "customer-id", "Python can't have the name 'customer-id'"),
        ("python", "class", "Python can't have the name 'class'"),
    ],
)
async def test_a_name_that_the_language_cannot_have_is_refused(language: Language, name: str, message: str) -> None:
    found = await flaw(language, "1" if language == "ale" else "return 1", (name,))
    assert found.message == message
    assert "map the attribute" in found.fix


async def test_jpath_has_no_trouble_with_names() -> None:
    async with languages() as found:
        await found.check("jpath", "$['two words'] == 1", ("two words", "x"))
        await found.check("jpath", "$.anything.at.all", ("value",))  # `match` and mappings: the value is the document


async def test_a_long_script_leaves_the_event_loop_alone() -> None:
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    others = asyncio.create_task(take_turns())
    looping = "(let-rec [go (lambda (n) (if (= n 0) :done (go (- n 1))))] (go n))"
    assert await call("ale", looping, n=200_000) == "done"
    assert turns > 10
    turns = 0
    assert await call("jpath", "$.rows[?count($.rows[*]) > 0].n", rows=[{"n": 1}] * 900) == [1] * 900
    assert turns > 0
    others.cancel()


async def test_after_the_close_nothing_runs_any_more() -> None:
    found = Languages()
    await found.close()
    long = "(let-rec [go (lambda (n) (if (= n 0) :done (go (- n 1))))] (go 10000))"
    for language, script in (("ale", long), ("lua", "return 1"), ("python", "1")):
        with pytest.raises(Unavailable):
            await found.call(language, script, (), values.encode({}), "token")  # type: ignore[arg-type]


@pytest.mark.costly
async def test_an_endless_script_ends_at_its_limit() -> None:
    with pytest.raises(ScriptError, match="limit exceeded"):
        await call("ale", "(let-rec [go (lambda () (go))] (go))")
    with pytest.raises(ScriptError, match="instruction limit exceeded"):
        await call("lua", "while true do end")


async def test_a_small_query_cannot_make_a_huge_value() -> None:
    twice = "[" + ",".join(["*"] * 20) + "]"
    with pytest.raises(ScriptError, match="result too large"):
        await call("jpath", f"$.a{twice}", a=["x" * 100_000])
    with pytest.raises(ScriptError, match="too many steps"):
        await call("jpath", f"$.a{twice * 8}", a=[[[[[[[[1]]]]]]]])


async def test_large_documents_are_fine_in_every_language() -> None:
    items = [{"id": index, "name": "x" * 20} for index in range(MOST_ON_LOOP // 20)]
    assert await call("ale", "(length items)", items=items) == len(items)
    assert await call("lua", "return #items", items=items) == len(items)
    assert await call("jpath", "$.items[-1].id", items=items) == len(items) - 1


async def test_a_large_text_is_compiled_too() -> None:
    text = f"(begin {' '.join(['(+ a 1)'] * 2000)})"
    assert len(text) > MOST_ON_LOOP
    async with languages() as found:
        await found.check("ale", text, ("a",))
    assert (await flaw("ale", text + " nope", ("a",))).message == "unknown name 'nope'"


async def test_random_numbers_of_lua_come_from_the_token() -> None:
    async with languages() as found:

        async def drawn(token: str) -> Any:
            return await found.call("lua", "return math.random(1000000)", (), values.encode({}), token)

        assert await drawn("a") == await drawn("a")
        assert await drawn("a") != await drawn("b")
