"""Messages for a token that the grammar does not accept: what it accepts instead, and what was probably meant."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from .syntax_error import AflSyntaxError
from .tokens import DECLARING, Token, shown
from .tree import Name

_MOST = 6
_STARTS_VALUE = frozenset(
    {"INT", "DOUBLE", "STRING", "TRUE", "FALSE", "NULL", "DOLLAR", "LPAREN", "LBRACKET", "HASHBRACE", "SIGN", "BANG"}
)
_CLOSING = frozenset({"RPAREN", "RBRACKET", "RBRACE"})


def unexpected(token: Token, expected: Collection[str], read: Sequence[Any]) -> AflSyntaxError:
    """`read` is the parser's stack: tokens, and parts of the tree."""
    opened = next((each for each in reversed(read) if isinstance(each, Token) and each.type == "LBRACE"), None)
    if opened is not None and token.type == "$END":
        return AflSyntaxError(opened.span, "This '{' is never closed", "add '}' where its block ends")
    what = "the end of the file" if token.type == "$END" else f"'{_short(token.value)}'"
    return AflSyntaxError(token.span, f"Unexpected {what}{_wanted(expected)}", _hint(token, expected, read))


def _hint(token: Token, expected: Collection[str], read: Sequence[Any]) -> str:
    last, before = _at(read, -1), _at(read, -2)
    if token.type in _CLOSING and _is(last, "COMMA"):
        return "remove the comma before it"
    if "YIELD" in expected and "NAME" not in expected and token.type in ("NAME", "SYS"):
        return "steps come before the yields of their block: move it up"
    if _is(before, "WITH") and isinstance(last, Name):
        return f"a mixin has parentheses: with {last.text}()"
    if _is(last, "ARROW") and "LPAREN" in expected and "LBRACE" not in expected:
        return "returns stand in parentheses, as in => (total: Long)"
    if _is(last, "EVENT"):
        return f"write 'event facet {_short(token.value)}'"
    if _is_positional(token, expected, read):
        return "arguments have names: write name = value"
    return _brace_hint(token, expected, read)


def _is_positional(token: Token, expected: Collection[str], read: Sequence[Any]) -> bool:
    if set(expected) <= {"NAME", "RPAREN"} and "NAME" in expected and token.type in _STARTS_VALUE:
        return True
    named = set(expected) == {"EQUALS"} and _is(_at(read, -1), "NAME")
    return named and not _is(_at(read, -2), "IMPLICIT") and token.type != "$END" and _in_call(read)


def _in_call(read: Sequence[Any]) -> bool:
    before = _at(read, -2)
    return _is(before, "LPAREN") or _is(before, "COMMA")


def _brace_hint(token: Token, expected: Collection[str], read: Sequence[Any]) -> str:
    if token.type in DECLARING and "RBRACE" in expected:
        return "a '}' is missing before it"
    if token.type == "RBRACE" and not any(_is(each, "LBRACE") for each in read):
        return "nothing is open that it could close: remove it"
    if token.type == "EQUALS" and "COLON" in expected:
        return "parameters have types, as in total: Long = 1"
    if token.type == "COLON" and "EQUALS" in expected:
        return "arguments are set with '=', as in total = 1"
    return ""


def _wanted(expected: Collection[str]) -> str:
    names = sorted({shown(each) for each in expected})
    if not names:
        return ""
    cut = names[:_MOST]
    tail = " …" if len(names) > _MOST else ""
    return ", expected " + (
        ", ".join(cut[:-1]) + " or " + cut[-1] if len(cut) > 1 and not tail else ", ".join(cut) + tail
    )


def _at(read: Sequence[Any], index: int) -> Any:
    return read[index] if len(read) >= -index else None


def _is(value: object, type: str) -> bool:
    return isinstance(value, Token) and value.type == type


def _short(text: str, most: int = 40) -> str:
    line = text.split("\n", 1)[0]
    return line if len(line) <= most and line == text else f"{line[:most]}…"
