"""What a script is given, what it may do, and what its errors say."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from plait.kernel import values
from plait.kernel.errors import Unavailable
from plait.scripts.errors import CompileError, ScriptError
from plait.scripts.javascript import (
    JavaScriptCrash,
    JavaScriptError,
    JavaScriptLimits,
    JavaScriptOutcome,
    JavaScriptPool,
)
from plait.scripts.languages import Languages


async def run(script: str, document: Any = None, **limits: Any) -> JavaScriptOutcome:
    async with JavaScriptPool(1) as pool:
        return await pool.run(script, values.encode(document), JavaScriptLimits(**limits))


async def error_of(script: str, document: Any = None, **limits: Any) -> JavaScriptError:
    with pytest.raises(JavaScriptError) as caught:
        await run(script, document, **limits)
    return caught.value


async def test_a_document_goes_in_and_json_comes_out() -> None:
    document = {"text": "ä€😀", "n": 1.5, "big": 2**53, "none": None, "list": [True, {}], "__proto__": 1}
    async with JavaScriptPool(1) as pool:
        for script in ("export default (input) => input", "export default async (input) => input"):
            assert (await pool.run(script, values.encode(document))).value == document
        assert (await pool.run("export default (i) => i", Raw(b"null"))).value is None
        assert (await pool.run("export default function () {}", Raw(b"null"))).value is None
        numbers = "export default () => [1.0, -0, 1e21, 0.1 + 0.2, 2 ** 53]"
        assert (await pool.run(numbers, Raw(b"null"))).value == [1, 0, 1e21, 0.1 + 0.2, 2**53]


async def test_dates_are_text_and_what_json_has_no_number_for_is_null() -> None:
    script = """export default () => ({
        a: undefined, b: [undefined, NaN, -Infinity], c: new Date(0), d: new Map([[1, 2]]), e: { toJSON: () => 7 } })"""
    assert (await run(script)).value == {
        "a": None,
        "b": [None, None, None],
        "c": "1970-01-01T00:00:00.000Z",
        "d": {},
        "e": 7,
    }


async def test_types_are_removed_and_lines_stay() -> None:
    typed = """
import type { Order } from "./order"
interface Line<T extends number = number> { sku: string; amount: T }
type Total = { total: number }
enum Size { Small, Large = "L" }
abstract class Base<T> { abstract get(): T; constructor(protected readonly value: T) {} }
class Box<T> extends Base<T> { get(): T { return this.value! } }
function first<T>(items: T[]): T { return items[0] as T }
declare const nowhere: number

export default async function main(input: { lines: Line[] }): Promise<Total & { size: string }> {
  const sum = input.lines.reduce((all: number, line) => all + line.amount, 0) satisfies number
  const box = new Box<number>(first<number>([sum]))
  return { total: box.get(), size: Size.Large + Size[0] }
}
"""
    assert (await run(typed, {"lines": [{"sku": "a", "amount": 2}, {"sku": "b", "amount": 3}]})).value == {
        "total": 5,
        "size": "LSmall",
    }
    failing = typed.replace("  const sum", "  throw new Error('here')\n  const sum")
    assert (await error_of(failing)).line == 12


async def test_a_call_with_a_type_is_a_call_and_not_two_comparisons() -> None:
    assert (await run("const same = <T,>(x: T) => x\nexport default (n: number) => same<number>(n)", 3)).value == 3
    plain = "export default ({ a, b }) => [a < b, b > a, a > (b)]"
    assert (await run(plain, {"a": 1, "b": 2})).value == [True, True, False]


async def test_an_error_names_its_line_and_shows_the_start_of_the_input() -> None:
    error = await error_of("export default (input) => {\n  return input.user.name;\n}", {"order": "o" * 600})
    assert (error.code, error.line) == ("code_error", 2)
    assert error.what.startswith('line 2: TypeError: cannot read property \'name\' of undefined (input: {"order":"ooo')
    assert error.what.endswith("oo…)")
    assert len(error.what) < 620


@pytest.mark.parametrize(
    ("script", "code", "line", "words"),
    [
        ("export default () => {\n  let x = ;\n}", "code_syntax", 2, "unexpected token"),
        ("export default function (n: number) {\n\n  let x: = 1;\n}", "code_syntax", 3, "Unexpected token"),
        ("import fs from 'fs'\nexport default () => 1", "code_syntax", 0, "imports are not possible"),
        ("export const main = () => 1", "code_syntax", 0, "no default export"),
        ("\0", "code_syntax", 1, "NUL"),
        ("//" + "x" * 256 * 1024, "code_syntax", 0, "more than 256 KB"),
    ],
)
async def test_what_can_not_run_is_found_without_running_it(script: str, code: str, line: int, words: str) -> None:
    async with JavaScriptPool(1) as pool:
        with pytest.raises(JavaScriptError) as caught:
            await pool.compile(script)
    assert (caught.value.code, caught.value.line) == (code, line)
    assert words in caught.value.message


async def test_compiling_runs_nothing() -> None:
    async with JavaScriptPool(1) as pool:
        await pool.compile("console.log('x'); while (true) {}\nexport default () => 1")
        await pool.compile(
            "throw new Error('ran');\nexport default function main(input: string): string { return input }"
        )


async def test_the_console_is_kept_also_when_the_script_fails_or_is_killed() -> None:
    loud = "export default () => { console.log('a', 1, null, { b: [2] }); console.error('c');"
    assert (await run(loud + "}")).printed == ('a 1 null {"b":[2]}', "c")
    assert (await error_of(loud + "throw 1 }")).printed == ('a 1 null {"b":[2]}', "c")
    killed = await error_of(loud + "for (;;); }", seconds=1)
    assert (killed.code, killed.printed) == ("code_timeout", ('a 1 null {"b":[2]}', "c"))
    assert killed.what == "Code interrupted after 1000 ms"


async def test_a_console_has_room_for_64_kilobytes() -> None:
    printed = (
        await run("export default () => { for (let i = 0; i < 100; i++) console.log('x'.repeat(1000)); }")
    ).printed
    assert len(printed) == 66
    assert "more was printed" in printed[-1]
    assert len((await run("export default () => { for (let i = 0; i < 2000; i++) console.log(i); }")).printed) == 1001


async def test_nothing_leaks_from_one_call_to_the_next() -> None:
    leaks = "globalThis.leaked = 1; Array.prototype.leaked = 1; export default () => (globalThis.count = 1)"
    async with JavaScriptPool(1) as pool:
        await pool.run(leaks, Raw(b"{}"))
        sees = "export default () => [typeof leaked, typeof [].leaked, typeof count]"
        assert (await pool.run(sees, Raw(b"{}"))).value == ["undefined"] * 3
        assert len(pool.pids) == 1


async def test_truth_is_that_of_javascript() -> None:
    async with JavaScriptPool(1) as pool:
        for value, truth in (("0", False), ("''", False), ("null", False), ("[]", True), ("() => 1", True)):
            assert (await pool.holds(f"export default () => {value}", Raw(b"{}"))).value is truth
        assert (await pool.holds("export default async () => false", Raw(b"{}"))).value is False


async def test_a_worker_has_nothing_of_the_engines() -> None:
    async with JavaScriptPool(1) as pool:
        await pool.run("export default () => 1", Raw(b"{}"))
        (pid,) = pool.pids
        place = Path(f"/proc/{pid}")
        assert (place / "environ").read_bytes() == b""
        assert sorted(os.listdir(place / "fd")) == ["0", "1", "2"]
        limits = (place / "limits").read_text()
        assert "\nMax open files            3                    3 " in limits
        assert "\nMax file size             0                    0 " in limits
        assert "Uid:\t0" not in (place / "status").read_text()


async def test_a_worker_that_is_killed_fails_only_its_own_script() -> None:
    async with JavaScriptPool(1) as pool:
        task = asyncio.ensure_future(pool.run("export default () => { for (;;); }", Raw(b"{}")))
        while not pool.pids:  # noqa: ASYNC110 - a pool tells nobody when it starts a process
            await asyncio.sleep(0)
        os.kill(next(iter(pool.pids)), signal.SIGSEGV)
        with pytest.raises(JavaScriptCrash):
            await task
        assert (await pool.run("export default () => 1", Raw(b"{}"))).value == 1


async def test_as_a_script_language_its_failures_have_codes() -> None:
    languages = Languages()
    try:
        document = values.encode({"a": 5})
        assert await languages.call("javascript", "export default ({ a }) => a + 1", (), document, "") == 6
        assert await languages.holds("javascript", "export default ({ a }) => a > 4", ("a",), document, "") is True
        for script, code in (
            ("export default () => { throw new Error('no stock') }", "code_error"),
            ("export default () => 'a\\0b'", "code_bad_output"),
            ("export default () => { for (;;); }", "code_timeout"),
        ):
            with pytest.raises(ScriptError) as caught:
                await languages.call("javascript", script, (), document, "", timeout=0.5)
            assert (caught.value.code, caught.value.retryable) == (code, False)
        with pytest.raises(CompileError) as flaw:
            await languages.check("javascript", "export default () => {", ())
        assert flaw.value.line == 1
    finally:
        await languages.close()
    with pytest.raises(Unavailable):
        await languages.call("javascript", "export default () => 1", (), document, "")
