"""JSON into Lua and back, as the language of goals says."""

from typing import Any

import pytest

from plait.scripts.lua import LuaError, LuaLimits, LuaPool


async def given(value: Any, script: str) -> Any:
    async with LuaPool(1) as pool:
        return (await pool.run(script, {"value": value}, ["value"], "token", LuaLimits(seconds=50))).value


SEEN = [
    ("é", 'type(value) == "string" and #value == 2'),
    ("", 'value == ""'),
    (True, "value == true"),
    (7, 'math.type(value) == "integer" and value == 7'),
    (7.0, 'math.type(value) == "float" and value == 7'),
    (0.1, "value == 0.1"),
    (2**63 - 1, "value == math.maxinteger"),
    (-(2**63), "value == math.mininteger"),
    (2**63, 'math.type(value) == "float" and value == 2^63'),
    (None, "value == nil"),
    ([], "type(value) == 'table' and next(value) == nil"),
    (["a", "b"], "#value == 2 and value[1] == 'a' and value[2] == 'b'"),
    ([1, None, 3], "value[1] == 1 and value[2] == nil and value[3] == 3"),
    ({"a": {"b": [True]}}, "value.a.b[1] == true"),
    ({"1": "x"}, "value['1'] == 'x' and value[1] == nil"),
    ({"a": None}, "next(value) == nil"),
]

_SAME = {"b": [1, None]}
GIVEN = [
    ("return", None),
    ("return nil", None),
    ("return null", None),
    ("return 1, 2", 1),
    ("return {a = null}", {"a": None}),
    ("return {null, 1}", [None, 1]),
    ("return {}", {}),
    ("return {{}}", [{}]),
    ("return {1, 2, 3}", [1, 2, 3]),
    ("return {[2] = 'b', [1] = 'a'}", ["a", "b"]),
    ("return {1, nil, 3}", {"1": 1, "3": 3}),
    ("return {[0] = 'a', [1] = 'b'}", {"0": "a", "1": "b"}),
    ("return {[1.5] = 'a'}", {"1.5": "a"}),
    ("return {1, a = 2}", {"1": 1, "a": 2}),
    ("local same = {1} return {same, same}", [[1], [1]]),
    ("local same = {b = {1, null}} return {same, {a = same, c = same.b}}", [_SAME, {"a": _SAME, "c": [1, None]}]),
    ("return 'a\\n\"\\\\\\127é\\1'", 'a\n"\\\x7fé\x01'),
    ("return math.maxinteger", 2**63 - 1),
    ("return math.mininteger", -(2**63)),
    ("return 0.1 + 0.2", 0.1 + 0.2),
    ("return 1e300", 1e300),
    ("return 5e-324", 5e-324),
    ("return false", False),
]

REFUSED = [
    ("return {a = {b = print}}", "the result.a.b is a function"),
    ("return {{coroutine.create(print)}}", "the result[1][1] is a thread"),
    ("local t = {} t.t = t return t", "the result.t is a table that holds itself"),
    ("return {x = 0/0}", "the result.x is -nan"),
    ("return {x = {-math.huge}}", "the result.x[1] is -inf"),
    ("return {x = {[true] = 1}}", "the result.x has a boolean as a key"),
    ("return {[1] = 1, ['1'] = 2}", "the result has the key 1 as a number and as a string"),
    ("return {a = '\\255'}", "the result.a has a string that is not UTF-8"),
]


@pytest.mark.parametrize(("value", "check"), SEEN)
async def test_a_script_sees_a_value_as(value: Any, check: str) -> None:
    assert await given(value, f"return {check}") is True


@pytest.mark.parametrize(("script", "value"), GIVEN)
async def test_a_script_gives(script: str, value: Any) -> None:
    got = await given(None, script)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(("script", "message"), REFUSED)
async def test_what_has_no_form_in_json_is_refused_with_its_place(script: str, message: str) -> None:
    with pytest.raises(LuaError) as caught:
        await given(None, script)
    assert caught.value.code == "lua.not_json"
    assert caught.value.message.replace("-nan", "nan") == message.replace("-nan", "nan")


@pytest.mark.parametrize(("script", "kind"), [("2.0", int), ("-2.0^53", int), ("2^53", int), ("2^54", float)])
async def test_a_float_without_fraction_is_an_integer_within_what_floats_hold_exactly(script: str, kind: type) -> None:
    assert type(await given(None, f"return {script}")) is kind


async def test_plain_values_come_back_as_they_went() -> None:
    value = {"text": "ünï\u2028😀", "list": [1, 2.5, True, {"deep": ["x"]}], "big": 2**62, "small": -1e-9}
    assert await given(value, "return value") == value


@pytest.mark.parametrize(("levels", "fits"), [(38, True), (39, False)])
async def test_a_table_that_is_met_again_counts_with_all_its_levels(levels: int, fits: bool) -> None:
    script = f"""
        local shared, chain = {{1}}, nil
        for _ = 1, 59 do shared = {{shared}} end
        chain = {{shared}}
        for _ = 1, {levels} do chain = {{chain}} end
        return {{shared, chain}}
    """
    if fits:
        assert str(await given(None, script)).count("1") == 2
    else:
        with pytest.raises(LuaError, match="deeper than 100 levels"):
            await given(None, script)


@pytest.mark.parametrize(
    "script",
    [
        "local t = {1} for _ = 1, 95 do t = {t, t} end return t",
        "local t = {a = 1} for _ = 1, 95 do t = {a = t, b = t} end return t",
        "local t = {} for i = 1, 600000 do t[i] = 1 end return t",
        "local t = {} for i = 1, 300000 do t['k' .. i] = 1 end return t",
    ],
)
async def test_a_result_too_large_is_found_by_counting(script: str) -> None:
    with pytest.raises(LuaError) as caught:
        await given(None, script)
    assert caught.value.code == "lua.result_too_large"
