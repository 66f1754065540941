"""15,000 lines of AFL as people write them, in thirty files that use each other: checked, compiled, formatted."""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import process_time

from bench.targets import Limit
from plait.dialects.afl.language.compile import Compiled, compile_program
from plait.dialects.afl.language.formatting.format import format_source
from plait.dialects.afl.language.program import read_program
from plait.dialects.afl.language.source_file import SourceFile

from .figure import Figure

LINES = 15_000
FILES = 30
ROUNDS = 3

_COMMON = """namespace shop.common {
    /** Where it is sent. */
    schema Address { city: String, zip: String, street: String }
    schema Item { sku: String, count: Long, price: Double }

    facet Audit(level: Long = 1) => (trace: String)
    facet Value(input: Long, output: Long)

    /** Takes the money.
     * @param amount in cents
     * @return id of the payment
     */
    event facet Charge(amount: Long, currency: String = "EUR") => (id: String, fee: Double)
    event facet Ship(to: Address, items: [Item]) => (tracking: String, days: Long)
    event facet Mail(to: String, text: String, cc: String = "") => (id: String)
    implicit office = Mail(cc = "office@example.org")
}
"""
_WORKFLOW = """
    /** Order number {n}. */
    workflow Order{n}(customer: String, total: Long, items: [Item], address: Address) => (payment: String, days: Long)
        with Audit(level = 2) as audit andThen {{
        // the price of all items, with tax
        price = Value(input = $.total * 119 - 1)
        charge = Charge(amount = price.input + $.total % 7) with Retry(max_attempts = 3) with Timeout(minutes = 5)
        ship = Ship(to = $.address, items = $.items) andThen {{
            note = Mail(to = $.customer, text = "on its way: " ++ ship.tracking ++ ", " ++ ship.days ++ " days")
        }} catch {{
            sorry = Mail(to = $.customer, text = "delayed: " ++ ship.error)
            yield Order{n}(days = 99)
        }}
        receipt = Mail(to = $.customer, text = "paid " ++ charge.fee ++ " with " ++ charge.id)
        sys.assert(price.input > 0 && $.customer != "")
        yield Order{n}(payment = charge.id, days = ship.days + 1)
    }} andThen foreach item in $.items {{
        line = Value(input = item.count * 2, output = $.item.count)
        check = Value(input = line.input + line.output)
    }} andThen when {{
        case $.total > 1000 && price.input in [1, 2, 3] => {{
            gift = Mail(to = $.customer, text = "thank you")
        }}
        case _ => {{ }}
    }}
"""


def program(lines: int = LINES) -> list[SourceFile]:
    a_workflow = _WORKFLOW.count("\n")
    workflows = lines // a_workflow + 1
    files = [SourceFile("common.afl", _COMMON)]
    for number in range(FILES):
        mine = range(number, workflows, FILES)
        text = "".join(_WORKFLOW.format(n=n) for n in mine)
        files.append(
            SourceFile(f"orders{number}.afl", f"namespace shop.orders{number} {{\n    use shop.common\n{text}}}\n")
        )
    return files


def measure() -> list[Figure]:
    files = program()
    lines = sum(each.text.count("\n") for each in files)
    read = read_program(files)
    if not read.valid:
        raise AssertionError(read.diagnostics[0].text)
    if not isinstance(compile_program(read), Compiled):
        raise AssertionError("it does not compile")
    return [
        Figure(f"check {lines:,} lines [s]", _seconds(lambda: read_program(files)), Limit("at most", 3.0)),
        Figure("compile them, checked [s]", _seconds(lambda: compile_program(read)), Limit("at most", 3.0)),
        Figure("format them [s]", _seconds(lambda: [format_source(each) for each in files]), Limit("at most", 6.0)),
    ]


def _seconds(work: Callable[[], object]) -> float:
    """Of the processor, the best of a few rounds."""
    found: list[float] = []
    for _ in range(ROUNDS):
        gc.collect()
        started = process_time()
        work()
        found.append(process_time() - started)
    return min(found)
