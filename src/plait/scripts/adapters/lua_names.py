"""Names in a Lua script that are never assigned: most are typing errors, which Lua itself finds too late.

Only tokens are examined, so this errs on the side of the script: a name that is a local, parameter or field key, or is
assigned anywhere, counts as known everywhere; a script that accesses its table of globals itself is not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_STANDARD = """
    _VERSION assert collectgarbage coroutine debug dofile error getmetatable io ipairs load loadfile math next null os
    package pairs pcall print rawequal rawget rawlen rawset require select setmetatable string table tonumber tostring
    type utf8 xpcall
"""
"""Standard names that our sandbox lacks are no typing errors: they are nil when the script runs."""
_WORDS = """
    and break do else elseif end false for function goto if in local nil not or repeat return then true until while
"""
_KEYWORDS = frozenset(_WORDS.split())
_ALWAYS = _KEYWORDS.union(_STANDARD.split())
_DYNAMIC = frozenset({"_G", "_ENV"})

_TOKEN = re.compile(
    r"""
    (?P<skip> --\[(?P<c>=*)\[.*?(?:\](?P=c)\]|\Z) | --[^\n]* | \[(?P<s>=*)\[.*?(?:\](?P=s)\]|\Z)
            | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | \s+ | 0[xX][0-9a-fA-F.]+(?:[pP][+-]?\d+)? | \.?\d[\w.]* )
  | (?P<name> [A-Za-z_]\w* )
  | (?P<sign> \.\.\.? | :: | == | ~= | <= | >= | << | >> | // | . )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)

Token = tuple[str, int]
"""The token's text, and its position."""


def unknown_name(script: str, names: Sequence[str]) -> tuple[str, int] | None:
    """The first unknown name and its line."""
    tokens = list(_tokens(script))
    texts = [text for text, _ in tokens]
    if _DYNAMIC.intersection(texts):
        return None
    known = _ALWAYS.union(names, _given(texts))
    for index, (text, start) in enumerate(tokens):
        before = texts[index - 1] if index else ""
        if text not in known and _is_name(text) and before not in (".", ":", "::", "goto"):
            return text, script.count("\n", 0, start) + 1
    return None


def _tokens(script: str) -> Iterator[Token]:
    for found in _TOKEN.finditer(script):
        if found["skip"] is None:
            yield found[0], found.start()


def _is_name(text: str) -> bool:
    return text[0].isalpha() or text[0] == "_"


def _given(texts: Sequence[str]) -> Iterator[str]:
    """Every name that is declared or assigned, anywhere."""
    declaring = False
    for index, text in enumerate(texts):
        after = texts[index + 1] if index + 1 < len(texts) else ""
        if text in ("local", "for", "function"):
            declaring = True
        elif text in _KEYWORDS or text in ("=", ")", ";"):
            declaring = False
        elif _is_name(text) and (declaring or after in ("=", ",")):
            yield text
