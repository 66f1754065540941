"""Printing: plain text and tables for people, JSON for programs. What users wrote is never taken for markup."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

STYLES = {
    "completed": "green",
    "failed": "red",
    "cancelled": "bright_black",
    "skipped": "bright_black",
    "blocked": "magenta",
    "running": "cyan",
    "waiting": "yellow",
    "retrying": "yellow",
    "pending": "",
}


_NARROW = 16
"""Characters that a column keeps, however little room there is."""


def console(*, stderr: bool = False) -> Console:
    """Makes a console for each use, because tests and pipes replace the streams."""
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def say(text: str | Text = "", style: str = "") -> None:
    """Prints a line for people. The terminal wraps long ones, so that they can be copied."""
    console().print(text, style=style or None, soft_wrap=True)


def note(text: str | Text, style: str = "") -> None:
    """Prints a line on stderr, apart from the actual output."""
    console(stderr=True).print(text, style=style or None, soft_wrap=True)


def emit(document: object) -> None:
    """Prints one JSON document."""
    _write(msgspec.json.format(_encode(document), indent=2))


def emit_line(document: object) -> None:
    """Prints one line of JSON Lines."""
    _write(_encode(document))


def flush() -> None:
    """Flushes incremental output, so that a reader at the other end of a pipe need not wait for the rest."""
    sys.stdout.flush()


def _encode(document: object) -> bytes:
    return msgspec.json.encode(document)


def _write(body: bytes) -> None:
    text = body.decode()
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        text = "".join(c if c.isascii() else _escaped(c) for c in text)  # only strings have non-ASCII
    sys.stdout.write(f"{text}\n")  # in one write: another thread must not print before the end of the line


def _escaped(character: str) -> str:
    utf16 = character.encode("utf-16-be")
    return "".join(f"\\u{utf16[i] << 8 | utf16[i + 1]:04x}" for i in range(0, len(utf16), 2))


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    fold: Sequence[str] = (),
    cut: Sequence[str] = (),
) -> None:
    """Prints a table. If space is short, columns in `fold` wrap to the next line, and those in `cut` are cut."""
    cells = [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in rows]
    natural = [max([len(name), *(row[at].cell_len for row in cells)]) for at, name in enumerate(columns)]
    gaps, out = 2 * (len(columns) - 1), console()
    if not out.is_terminal and "COLUMNS" not in os.environ:  # in a pipe nothing is too wide, and ids stay whole
        out.width = max(out.width, sum(natural) + gaps)
    room = out.width - gaps
    widths = _fitted(dict(zip(columns, natural, strict=True)), room, cut, fold)
    grid = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name, width in widths.items():
        grid.add_column(name, width=width, no_wrap=name not in fold, overflow="fold" if name in fold else "ellipsis")
    for row in cells:
        grid.add_row(*row)
    out.print(grid)


def _fitted(widths: dict[str, int], room: int, cut: Sequence[str], fold: Sequence[str]) -> dict[str, int]:
    """Reduces the columns that may be cut, and then the widest of those that may be folded."""
    for name in (*cut, *sorted(fold, key=lambda name: -widths[name])):
        excess = sum(widths.values()) - room
        if excess > 0:
            widths[name] = max(min(widths[name], _NARROW), widths[name] - excess)
    return widths


def status_text(status: str) -> Text:
    return Text(status, style=STYLES.get(status, ""))


def facts(pairs: Iterable[tuple[str, str | Text | None]]) -> None:
    """Prints names and values, one per line; leaves out values that are None."""
    found = [(name, value) for name, value in pairs if value is not None]
    width = max((len(name) for name, _ in found), default=0)
    for name, value in found:
        say(Text.assemble((f"{name:<{width}}  ", "bold"), value))


def document(**fields: Any) -> dict[str, Any]:
    """Makes a JSON object without absent fields."""
    return {name: value for name, value in fields.items() if value is not None}
