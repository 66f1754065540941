"""Diagnostics in the form of compiler output: place and problem, the line with a caret, and the fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.text import Text

from plait.cli.output import note, say
from plait.dialects.afl.language.diagnostic import Diagnostic
from plait.dialects.afl.language.source_file import SourceFile, SourceText

_WIDTH = 120
"""The width of a line that is shown whole."""
_STYLES = {"error": "red", "warning": "yellow"}


def say_diagnostics(found: Sequence[Diagnostic], sources: Sequence[SourceFile], *, stderr: bool = False) -> None:
    texts = {each.name: SourceText(each) for each in sources}
    write = note if stderr else say
    for each in found:
        for line in _lines(each, texts):
            write(line)


def summary(found: Sequence[Diagnostic], files: int) -> str:
    errors = sum(each.severity == "error" for each in found)
    return f"{_count(files, 'file')}: {_count(errors, 'error')}, {_count(len(found) - errors, 'warning')}"


def _lines(each: Diagnostic, texts: Mapping[str, SourceText]) -> list[Text]:
    place = f"{each.file}:{each.line}:{each.column}: "
    lines = [Text.assemble(place, (each.severity, _STYLES[each.severity]), f" {each.code}: {each.message}")]
    text = texts.get(each.file)
    line = _shown(text.line(each.line)) if text is not None else ""
    if line.strip():
        start = each.column - 1
        end = each.end_column - 1 if each.end_line == each.line else len(line.rstrip())
        line, start, end = _window(line, start, end)
        before = " " * cell_len(line[:start])
        caret = "^" + "~" * max(cell_len(line[start:end]) - 1, 0)
        lines += [Text(f"    {line}"), Text.assemble("    ", before, (caret, _STYLES[each.severity]))]
    if each.hint:
        lines.append(Text(f"    hint: {each.hint}"))
    return lines


def _window(line: str, start: int, end: int) -> tuple[str, int, int]:
    """The part of a long line around the marked place, and the place's offset in it."""
    if len(line) <= _WIDTH:
        return line, start, end
    first = max(0, min(start - _WIDTH // 3, len(line) - _WIDTH))
    last = min(len(line), first + _WIDTH)
    left, right = "… " if first else "", " …" if last < len(line) else ""
    shift = len(left) - first
    return f"{left}{line[first:last]}{right}", start + shift, min(end, last) + shift


def _shown(line: str) -> str:
    """Each character takes one column: tabs and control characters are replaced."""
    return "".join(c if c.isprintable() else " " for c in line)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
