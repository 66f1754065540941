"""Typing errors in Lua are found, and nothing that Lua would run is refused."""

import pytest

from plait.scripts.adapters.lua_names import unknown_name


@pytest.mark.parametrize(
    "script",
    [
        "return amount > 1",
        "local x <const>, y = 1, 2 return x + y",
        "local function f(a, ...) return a, ... end return f(amount)",
        "function f(a) return a end return f(1)",
        "local t = {key = 1, ['other'] = 2, amount} return t.key, t:method()",
        "for i, item in ipairs(amount) do total = (total or 0) + item end return total",
        "for i = 1, 10, 2 do print(i) end",
        "goto done ::done:: return 1",
        "-- amout is a comment\nreturn 1 --[[ so is amout ]]",
        '--[==[ amout ]] amout ]==] return [[ amout ]] .. [=[ ]] amout ]=] .. \'amout\' .. "am\\"out"',
        "return 0x1p4 + 1e3 + 0xAF + 3.5 + .5 + 1//2",
        "a, b = 1, 2 return a + b",
        "b, amount.x = 1, 2 return b",
        "return _G.whatever",
        "local _ENV = {x = 1} return x + y",
        "return null, utf8.char(72), math.floor(1.5), string.rep('a', 3), table.concat({}), os, io",
        "local a = 1 repeat local b = a until b return a",
        "return (function(self) return self end)(amount)",
        "if amount then return true elseif not amount then return false else return nil end",
        "return amount << 1 | amount >> 2 ~ 3 & 4",
        "",
    ],
)
def test_known_names(script: str) -> None:
    assert unknown_name(script, ("amount",)) is None


@pytest.mark.parametrize(
    ("script", "name", "line"),
    [
        ("return amout > 1", "amout", 1),
        ("local x = 1\n\nif x <amout then return x end", "amout", 3),
        ("return {total = amout}", "amout", 1),
        ("return string.format('%d', amout)", "amout", 1),
        ("--[[ two\nlines ]] return amout", "amout", 2),
        ("return user.name .. 'x'", "user", 1),
        ("return Math.floor(amount)", "Math", 1),
    ],
)
def test_unknown_names(script: str, name: str, line: int) -> None:
    assert unknown_name(script, ("amount",)) == (name, line)
