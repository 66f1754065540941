"""Programs for tests: the mark `¶` in a source is a place, and is taken out."""

from __future__ import annotations

from plait.dialects.afl.language.diagnostic import Diagnostic
from plait.dialects.afl.language.program import Program, read_program
from plait.dialects.afl.language.source_file import Place, SourceFile, SourceText

MARK = "¶"

SHOP = """
namespace shop {
    schema Address { city: String, zip: String }
    facet Value(input: Long, output: Long)
    event facet Pay(sku: String, qty: Long = 1) => (id: String, fee: Double, to: Address)
    event facet Note(text: String)
    facet Audit(level: Long) => (trace: String)
%s
}
"""


def program(text: str, **others: str) -> Program:
    """Checked; `others` are more files by name."""
    files = [SourceFile("main.afl", text), *(SourceFile(f"{name}.afl", each) for name, each in others.items())]
    return read_program(files)


def in_shop(text: str) -> str:
    """Inside a namespace that has something to call."""
    return SHOP % text


def body(text: str, *, parameters: str = "total: Long", returns: str = "out: Long") -> str:
    """As the body of a workflow."""
    return in_shop(f"workflow W({parameters}) => ({returns}) andThen {{\n{text}\n}}")


def marked(text: str) -> tuple[str, Place]:
    at = text.index(MARK)
    clean = text.replace(MARK, "")
    return clean, SourceText(SourceFile("", clean)).place(at)


def found(text: str, code: str) -> list[Diagnostic]:
    return [each for each in program(text).diagnostics if each.code == code]
