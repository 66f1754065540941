"""A program of one or many files, read and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .checking.check import Check
from .checking.cycles import check_recursion, check_step_cycles
from .checking.declarations import check_member, check_uses
from .diagnostic import Diagnostic, Diagnostics, has_errors, sorted_diagnostics
from .limits import LIMIT_EXCEEDED, MAX_FILES, MAX_PROGRAM_BYTES
from .links import Links
from .parser import Parsed, parse
from .source_file import SourceFile, SourceText
from .symbols import Space, Symbols, collect
from .tree import Facet, Namespace

_MISSING = ("REF_UNKNOWN_", "USE_UNKNOWN_", "REF_UNDEFINED_", "YIELD_INVALID_")
"""Prefixes of diagnostics that may only follow from a declaration that could not be parsed."""


@dataclass(frozen=True, eq=False)
class Program:
    """A program with all that was found out about it, even if it has errors."""

    files: tuple[Parsed, ...]
    symbols: Symbols
    links: Links
    diagnostics: tuple[Diagnostic, ...]

    @property
    def valid(self) -> bool:
        return not has_errors(self.diagnostics)


def read_program(sources: Sequence[SourceFile], *, strict: bool = False) -> Program:
    """Parses and checks. With `strict`, each warning is an error."""
    diagnostics = Diagnostics()
    texts = _within_limits(sources, diagnostics)
    return check_program([parse(each, diagnostics) for each in texts], diagnostics, strict=strict)


def check_program(files: Sequence[Parsed], diagnostics: Diagnostics, *, strict: bool = False) -> Program:
    """`diagnostics` has the syntax errors already; mere consequences of them are not reported."""
    unread = has_errors(diagnostics.found)
    symbols = collect(files, diagnostics)
    links = Links()
    found = Diagnostics()
    _check(files, symbols, links, found)
    diagnostics.found.extend(each for each in found.found if not (unread and each.code.startswith(_MISSING)))
    names = [each.source.name for each in files]
    ordered = sorted_diagnostics(diagnostics.found, names)
    if strict:
        ordered = tuple(_as_error(each) for each in ordered)
    return Program(tuple(files), symbols, links, ordered)


def _check(files: Sequence[Parsed], symbols: Symbols, links: Links, found: Diagnostics) -> None:
    check = Check(symbols, links, found, Space("", (), SourceText(SourceFile("", ""))), {})
    for parsed in files:
        for member in parsed.tree.members:
            if isinstance(member, Namespace):
                check.space = Space(member.name.text, (), parsed.source)
                check_uses(check, member)
    for member in symbols.members:
        check.space = member.space
        check_member(check, member)
        if isinstance(member.declaration, Facet):
            check_step_cycles(check, member.declaration.bodies, member.declaration.catch)
    check_recursion(check)


def _within_limits(sources: Sequence[SourceFile], diagnostics: Diagnostics) -> list[SourceText]:
    texts = [SourceText(each) for each in sources]
    size = sum(len(each.text) for each in texts)
    if len(texts) <= MAX_FILES and size <= MAX_PROGRAM_BYTES:
        return texts
    what = (
        f"The program has {len(texts):,} files: the limit is {MAX_FILES:,}"
        if len(texts) > MAX_FILES
        else f"The program has {size:,} characters: the limit is {MAX_PROGRAM_BYTES:,}"
    )
    diagnostics.error(texts[0], (0, 0), LIMIT_EXCEEDED, what, "split it into several programs")
    return []


def _as_error(each: Diagnostic) -> Diagnostic:
    if each.severity == "error":
        return each
    return Diagnostic(
        "error",
        each.code,
        each.message,
        each.hint,
        each.file,
        each.line,
        each.column,
        each.end_line,
        each.end_column,
    )
