"""What a script is given, what it may do, and what its errors say."""

import pytest

from plait.kernel.errors import PlaitError
from plait.scripts.lua import LuaCompileError, LuaError, LuaLimitError, LuaLimits, LuaOutcome, LuaPool


async def run(script: str, token: str = "token", limits: LuaLimits | None = None, **arguments: object) -> LuaOutcome:
    async with LuaPool(1) as pool:
        return await pool.run(script, arguments, arguments, token, limits or LuaLimits())


async def error_of(script: str, limits: LuaLimits | None = None) -> LuaError:
    with pytest.raises(LuaError) as caught:
        await run(script, limits=limits)
    return caught.value


async def test_arguments_are_locals_and_one_that_is_missing_is_nil() -> None:
    async with LuaPool(1) as pool:
        outcome = await pool.run("return {a, b == nil, _G.a == nil}", {"a": 1, "c": 2}, ["b", "a"], "token")
    assert outcome.value == [1, True, True]


async def test_a_comment_in_the_last_line_is_harmless() -> None:
    assert (await run("return x -- that is all", x=1)).value == 1


async def test_a_script_may_start_with_a_bracket() -> None:
    assert (await run("(function() y = x end)() return y", x=1)).value == 1


async def test_what_is_printed_is_kept_apart_from_the_value() -> None:
    outcome = await run("print('a', 1, nil, {} ~= nil) print() print(null) return 2")
    assert outcome == (2, ("a\t1\tnil\ttrue", "", "null"))


async def test_what_was_printed_before_an_error_is_kept() -> None:
    assert (await error_of("print('here') error('x')")).printed == ("here",)
    assert (await error_of("print('here') while true do end", LuaLimits(instructions=10_000))).printed == ("here",)


async def test_what_was_printed_before_a_kill_is_kept() -> None:
    bomb = "print('here') return (('a'):rep(26)):find(('a?'):rep(26) .. ('a'):rep(26))"
    error = await error_of(bomb, LuaLimits(seconds=0.5))
    assert (error.code, error.printed) == ("lua.time_limit", ("here",))


async def test_lines_beyond_the_limit_are_dropped_and_the_log_says_so() -> None:
    outcome = await run("for i = 1, 10 do print(i) end", limits=LuaLimits(lines=3))
    assert outcome.printed[:3] == ("1", "2", "3")
    assert len(outcome.printed) == 4
    assert "more was printed" in outcome.printed[3]


async def test_a_line_that_no_store_could_keep_is_made_plain() -> None:
    assert (await run("print('a\\0b\\255')")).printed == ("a\ufffdb\ufffd",)


async def test_random_numbers_follow_from_the_token() -> None:
    script = "return {math.random(1 << 50), math.random(1 << 50)}"
    first, again, other = [(await run(script, token)).value for token in ("one", "one", "two")]
    assert first == again != other


async def test_nothing_leaks_from_one_script_to_the_next() -> None:
    leaks = """
        leaked, string.leaked, math.leaked, _G.leaked_too = 1, 1, 1, 1
        string.upper = nil
        setmetatable(_G, {__index = function() return 'leaked' end})
        math.randomseed(1)
    """
    sees = (
        "return {leaked, string.leaked, math.leaked, leaked_too, ('x'):upper(), getmetatable(_G), math.random(1 << 50)}"
    )
    async with LuaPool(1) as pool:
        fresh = await pool.run(sees, {}, [], "token")
        await pool.run(leaks, {}, [], "token")
        assert await pool.run(sees, {}, [], "token") == fresh
        assert len(pool.pids) == 1


@pytest.mark.parametrize(
    ("script", "truth"),
    [("return nil", False), ("", False), ("return false", False), ("return 0", True), ("return ''", True),
     ("return null", True), ("return print", True), ("return x > 1", True), ("return x < 1", False)],
)  # fmt: skip
async def test_a_predicate_is_false_for_nil_and_false_only(script: str, truth: bool) -> None:
    async with LuaPool(1) as pool:
        assert (await pool.holds(script, {"x": 2}, ["x"], "token")).value is truth


async def test_an_error_names_its_line() -> None:
    error = await error_of("local x\n\nreturn x.y")
    assert (error.code, error.line) == ("lua.runtime", 3)
    assert error.what == "line 3: attempt to index a nil value (local 'x')"


async def test_the_instruction_limit_names_the_line_where_it_was_met() -> None:
    error = await error_of("local x = 1\nwhile true do end", LuaLimits(instructions=10_000))
    assert (error.code, error.line) == ("lua.instruction_limit", 2)


async def test_an_error_that_is_not_a_text_is_described() -> None:
    assert (await error_of("error({code = 1})")).message == "the error is a table, not a text"


async def test_arguments_count_as_memory() -> None:
    with pytest.raises(LuaLimitError) as caught:
        await run("return 1", limits=LuaLimits(memory=100_000), text="x" * 200_000)
    assert caught.value.code == "lua.memory_limit"


async def test_a_script_that_catches_the_lack_of_memory_goes_on() -> None:
    assert (await run("return pcall(string.rep, 'x', 1 << 30) and 'no' or 'caught'")).value == "caught"


@pytest.mark.parametrize(
    ("script", "names", "code", "line"),
    [
        ("x =", [], "lua.syntax", 1),
        ("\n\nfor", ["a"], "lua.syntax", 3),
        ("return '", [], "lua.syntax", 1),
        ("return a", ["a-b"], "lua.bad_name", 0),
        ("return a", ["end"], "lua.bad_name", 0),
        ("return a", ["é"], "lua.bad_name", 0),
        ("return a", ["a = 1; os"], "lua.bad_name", 0),
        ("\x1bLua", [], "lua.bytecode", 0),
        ("(" * 10_000, [], "lua.syntax", 0),
        ("return 1", [f"n{i}" for i in range(300)], "lua.syntax", 1),
    ],
)
async def test_what_can_not_be_compiled_is_refused(script: str, names: list[str], code: str, line: int) -> None:
    async with LuaPool(1) as pool:
        with pytest.raises(LuaCompileError) as caught:
            await pool.compile(script, names)
        await pool.compile("return 1", [])
    assert (caught.value.code, caught.value.line) == (code, line)


async def test_a_script_that_is_too_long_is_refused() -> None:
    async with LuaPool(1) as pool:
        await pool.compile("-" * 64 * 1024, [])
        with pytest.raises(LuaLimitError) as caught:
            await pool.compile("-" * (64 * 1024 + 1), [])
    assert caught.value.code == "lua.script_too_large"


async def test_compiling_runs_nothing() -> None:
    async with LuaPool(1) as pool:
        await pool.compile("while true do end", [])
        await pool.compile("error('ran')", [])


async def test_a_stopped_pool_takes_no_scripts() -> None:
    pool = LuaPool(1)
    await pool.stop()
    with pytest.raises(PlaitError) as caught:
        await pool.compile("return 1", [])
    assert caught.value.code == "lua.stopped"
