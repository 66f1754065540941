"""Turns the author's source into JavaScript that QuickJS can parse: removes types if there are any.

The source may be JavaScript or TypeScript, and nothing says which. What parses as JavaScript is taken as such, unless
it has a form with another meaning in TypeScript: `f<T>(x)` is a call there, and two comparisons here. So most scripts
never need the program that removes types.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256

from .context import NotParsed, ScriptContext
from .typescript import TypeStripper

_MAX_BYTES = 16 * 1024 * 1024
_AMBIGUOUS = re.compile(r"(?<!=)>\s*[(`]")


class Sources:
    """Remembers the most recently parsed texts, by the hash of their source."""

    def __init__(self) -> None:
        self._stripper = TypeStripper()
        self._parsed: OrderedDict[bytes, str] = OrderedDict()
        self._bytes = 0

    def load(self, source: str, context: ScriptContext, *, only_look: bool) -> None:
        """Loads a source into a context. Raises `Failed`."""
        load = context.look_at if only_look else context.load
        key = sha256(source.encode(errors="replace")).digest()
        known = self._parsed.get(key)
        if known is not None:
            self._parsed.move_to_end(key)
            load(known)
            return
        text = self._load(source, load)
        self._keep(key, text)

    def _load(self, source: str, load: Callable[[str], None]) -> str:
        """The form of the source that could be loaded; if none could, raises the error of the attempt that got
        furthest."""
        problems: list[NotParsed] = []
        for form in self._forms(source):
            try:
                text = form(source)
                load(text)
            except NotParsed as problem:
                problems.append(problem)
            else:
                return text
        problem = max(problems, key=lambda problem: problem.line)
        if self._stripper.missing:
            problem.fix = "for TypeScript, build the program that removes types: make ui"
        raise problem

    def _forms(self, source: str) -> list[Callable[[str], str]]:
        if self._stripper.missing:
            return [str]
        return [self._stripper.strip, str] if _AMBIGUOUS.search(source) else [str, self._stripper.strip]

    def _keep(self, key: bytes, text: str) -> None:
        self._parsed[key] = text
        self._bytes += len(text)
        while self._bytes > _MAX_BYTES:
            _, oldest = self._parsed.popitem(last=False)
            self._bytes -= len(oldest)
