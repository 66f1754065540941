"""The lines of the new text, with the comments of the old one at their places.

A comment keeps its place between the items of a block, or at the end of an item's line. Comments inside an item that
is formatted as one line are moved before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from plait.dialects.afl.language.source_file import SourceText
from plait.dialects.afl.language.tokens import Comment
from plait.dialects.afl.language.tree import Doc

from .inline import INDENT

_BETWEEN = re.compile(r"[ \t,;]*")


class Lines:
    def __init__(self, source: SourceText, comments: Sequence[Comment]) -> None:
        self._text = source.text
        self._comments = comments
        self._next = 0
        self._lines: list[str] = []
        self._level = 0
        self._end = 0
        """The offset in the old text where the last output ended."""
        self._first = True
        """Whether nothing was written yet in this block."""

    @property
    def indent(self) -> str:
        return INDENT * self._level

    def text(self) -> str:
        return "\n".join(self._lines) + "\n" if self._lines else ""

    def before(self, start: int, header_end: int, doc: Doc | None = None) -> None:
        """Writes the comments before an item that starts at `start`, and those in its first line."""
        self._flush(start if doc is None else doc.start)
        inside: list[Comment] = []
        described: Comment | None = None
        while self._next < len(self._comments) and self._comments[self._next].start < header_end:
            comment = self._comments[self._next]
            self._next += 1
            if doc is not None and comment.start == doc.start:
                described = comment
            else:
                inside.append(comment)
        at = doc.start if doc is not None else start
        for comment in inside:
            self._blank(at)
            self._put_comment(_plain(comment), comment.start)
            self._end = at
        if described is not None:
            self._blank(described.start)
            self._put_comment(described.value, described.start)
            self._end = described.end
        self._blank(start)

    def put(self, line: str) -> None:
        """Starts a new line; `line` may contain line breaks."""
        self._lines.append(f"{self.indent}{line}")
        self._first = False

    def put_raw(self, line: str) -> None:
        """Writes a line of a script, with its own indentation."""
        self._lines.append(line)

    def extend(self, more: str) -> None:
        """Appends to the last line."""
        self._lines[-1] += more

    def after(self, end: int) -> None:
        """Writes a comment at the end of the line of an item that ended at `end`."""
        self._end = end
        if self._next >= len(self._comments):
            return
        comment = self._comments[self._next]
        between = _BETWEEN.match(self._text, end)
        on_line = between is not None and between.end() == comment.start and "\n" not in comment.value
        if on_line and not comment.value.startswith("/**"):  # a doc comment may describe what follows
            self._next += 1
            self.extend(f"  {comment.value.rstrip()}")
            self._end = comment.end

    def open(self, start: int) -> None:
        """Opens a block whose brace is at `start`."""
        self.extend("{")
        self._level += 1
        self._end = start + 1
        self._first = True

    def close(self, end: int) -> None:
        """Closes the block whose brace ends at `end`."""
        self._flush(end)
        empty = self._first
        self._level -= 1
        if empty:
            self.extend("}")
        else:
            self.put("}")
        self._end = end
        self._first = False

    def finish(self) -> None:
        self._flush(len(self._text) + 1)

    def _flush(self, before: int) -> None:
        while self._next < len(self._comments) and self._comments[self._next].start < before:
            comment = self._comments[self._next]
            self._next += 1
            self._blank(comment.start)
            self._put_comment(comment.value, comment.start)
            self._end = comment.end

    def _blank(self, start: int) -> None:
        """Writes one empty line where there were any."""
        if not self._first and self._text.count("\n", self._end, start) > 1 and self._lines[-1] != "":
            self._lines.append("")

    def _put_comment(self, value: str, start: int) -> None:
        """Shifts all lines of a block comment with its first."""
        column = start - (self._text.rfind("\n", 0, start) + 1)
        first, *rest = value.split("\n")
        self.put(first.rstrip())
        for line in rest:
            kept = line.rstrip()
            lead = len(kept) - len(kept.lstrip())
            stars = kept.lstrip().startswith("*")
            moved = " " + kept.lstrip() if stars else " " * max(lead - column, 0) + kept.lstrip()
            self._lines.append(f"{self.indent}{moved}".rstrip())


def _plain(comment: Comment) -> str:
    """A comment as a plain one: a doc comment would describe what it now precedes."""
    return f"/* {comment.value[3:].lstrip()}" if comment.value.startswith("/**") else comment.value
