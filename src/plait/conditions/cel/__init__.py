"""CEL, the Common Expression Language, with one type of number.

`reading` parses a text with Google's parser, `wire` decodes the parser's output, `syntax` is the tree, and `lowering`
turns it into functions. We evaluate the tree ourselves: the library can't be stopped once it runs, distinguishes 1 from
1.0, and copies all of its data for each evaluation.
"""

from __future__ import annotations

from .errors import CelError, CelSyntaxError
from .evaluation import Run
from .expression import MAX_TEXT, Expression

__all__ = ["MAX_TEXT", "CelError", "CelSyntaxError", "Expression", "Run"]
