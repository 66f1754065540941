"""Limits on the size of a program. Exceeding one is a diagnostic, LIMIT_EXCEEDED, that names it."""

from __future__ import annotations

from plait.kernel.errors import InvalidInput

MAX_FILE_BYTES = 2 * 1024 * 1024
MAX_PROGRAM_BYTES = 20 * 1024 * 1024
MAX_FILES = 2000
MAX_DIAGNOSTICS = 100
MAX_EXPRESSION_DEPTH = 200
MAX_BLOCK_NESTING = 64

LIMIT_EXCEEDED = "LIMIT_EXCEEDED"


class TooManyFiles(InvalidInput):
    """The program has too many files."""

    def __init__(self, found: int) -> None:
        super().__init__(
            "afl.too_many_files",
            f"the program has more than {MAX_FILES:,} files",
            why=f"{found:,} were found",
            fix="give the directory of one program",
        )
