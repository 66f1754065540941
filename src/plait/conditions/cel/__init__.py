"""CEL, the Common Expression Language, with one type of number.

`reading` has Google's parser read a text, `wire` decodes what it gives, `syntax` is the tree, and `lowering` makes
functions of that. We evaluate the tree ourselves: the library can't be stopped once it runs, tells 1 from 1.0, and
copies all of its data for each evaluation.
"""

from __future__ import annotations

from .errors import CelError, CelSyntaxError
from .evaluation import Run
from .expression import MAX_TEXT, Expression

__all__ = ["MAX_TEXT", "CelError", "CelSyntaxError", "Expression", "Run"]
