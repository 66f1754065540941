"""Diagnostics of the compiler: the place, the problem, and the fix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from .limits import LIMIT_EXCEEDED, MAX_DIAGNOSTICS
from .source_file import SourceText

Severity = Literal["error", "warning"]


class Diagnostic(msgspec.Struct, frozen=True):
    severity: Severity
    code: str
    message: str
    hint: str
    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def text(self) -> str:
        """The place and the problem."""
        return f"{self.file}:{self.line}:{self.column}: {self.severity} {self.code}: {self.message}"


class Diagnostics:
    """Collects diagnostics without stopping at the first."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []

    def error(self, source: SourceText, span: tuple[int, int], code: str, message: str, hint: str = "") -> None:
        self.add(source, span, code, message, hint, "error")

    def warning(self, source: SourceText, span: tuple[int, int], code: str, message: str, hint: str = "") -> None:
        self.add(source, span, code, message, hint, "warning")

    def add(
        self, source: SourceText, span: tuple[int, int], code: str, message: str, hint: str, severity: Severity
    ) -> None:
        start, end = source.place(span[0]), source.place(max(span))
        self.found.append(
            Diagnostic(
                severity=severity,
                code=code,
                message=message,
                hint=hint,
                file=source.name,
                line=start.line,
                column=start.column,
                end_line=end.line,
                end_column=end.column,
            )
        )


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(each.severity == "error" for each in diagnostics)


def sorted_diagnostics(found: Sequence[Diagnostic], files: Sequence[str]) -> tuple[Diagnostic, ...]:
    """By file in the program's order, then by place; errors first if there are too many for one answer."""
    order = {name: at for at, name in enumerate(files)}

    def key(each: Diagnostic) -> tuple[object, ...]:
        return order.get(each.file, -1), each.line, each.column, each.severity, each.code, each.message

    unique = sorted(set(found), key=key)
    if len(unique) <= MAX_DIAGNOSTICS:
        return tuple(unique)
    kept = sorted(unique, key=lambda each: each.severity)[: MAX_DIAGNOSTICS - 1]
    last = kept[-1]
    more = Diagnostic(
        "error" if has_errors(kept) else "warning",
        LIMIT_EXCEEDED,
        f"{len(unique) - len(kept):,} more diagnostics are left out: the limit is {MAX_DIAGNOSTICS}",
        "mend these first",
        last.file,
        last.line,
        last.column,
        last.end_line,
        last.end_column,
    )
    return (*sorted(kept, key=key), more)
