"""Parses queries with python-jsonpath in its strict mode, with some checks that it lacks.

A comparison at the top level is parsed as the equivalent filter: `$.a == 1` as `$[?$.a == 1]`.
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from jsonpath import JSONPath, JSONPathEnvironment
from jsonpath import token as tokens
from jsonpath.exceptions import JSONPathError
from jsonpath.filter import BaseExpression, FloatLiteral, IntegerLiteral
from jsonpath.parse import Parser
from jsonpath.selectors import Filter
from jsonpath.stream import TokenStream
from jsonpath.token import Token

from .errors import JsonPathSyntaxError

MAX_TEXT = 4_096
"""Characters of a query."""
MAX_NESTING = 32
"""Brackets within brackets."""

_OPENING = frozenset({tokens.TOKEN_LBRACKET, tokens.TOKEN_LPAREN})
_CLOSING = frozenset({tokens.TOKEN_RBRACKET, tokens.TOKEN_RPAREN})
_COMPARING = frozenset(
    {tokens.TOKEN_EQ, tokens.TOKEN_NE, tokens.TOKEN_LT, tokens.TOKEN_LE, tokens.TOKEN_GT, tokens.TOKEN_GE}
    | {tokens.TOKEN_LG, tokens.TOKEN_AND, tokens.TOKEN_OR, tokens.TOKEN_NOT}
    | {tokens.TOKEN_FUNCTION, tokens.TOKEN_LPAREN}
)
"""Tokens that a path never has outside its brackets."""
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
_BEFORE, _AFTER = "$[?", "]"


class _Parser(Parser):
    """Keeps integers exact: the original parses them by way of a float."""

    def parse_integer_literal(self, stream: TokenStream) -> BaseExpression:
        text = _number(stream.next())
        return IntegerLiteral(value=int(text)) if text.lstrip("-").isdecimal() else FloatLiteral(value=float(text))

    def parse_float_literal(self, stream: TokenStream) -> BaseExpression:
        return FloatLiteral(value=float(_number(stream.next())))


class _Environment(JSONPathEnvironment):
    parser_class = _Parser


def _number(token: Token) -> str:
    if not _NUMBER.fullmatch(token.value):
        raise ValueError(f"{token.value} is no number")
    return token.value


_environment = _Environment(strict=True, filter_caching=False)


class Reading(NamedTuple):
    """A parsed path, or the parsed condition of a comparison."""

    path: JSONPath | None
    condition: BaseExpression | None


def read(text: str) -> Reading:
    """Raises a `JsonPathSyntaxError` that says where and why."""
    if len(text) > MAX_TEXT:
        message = f"the query has {len(text):,} characters, {MAX_TEXT:,} are allowed"
        raise JsonPathSyntaxError("too_big", message, fix="shorten it")
    blank = len(text) - len(text.lstrip())
    return _read(text, blank, text.strip())


def _read(text: str, blank: int, bare: str) -> Reading:
    before = 0
    try:
        if not bare:
            raise JsonPathSyntaxError.at(text, 0, "the query is empty", "start it with `$`")
        if not _is_comparison(bare):
            return Reading(_path(bare), None)
        before = len(_BEFORE)
        return Reading(None, _condition(f"{_BEFORE}{bare}{_AFTER}"))
    except JSONPathError as error:
        _refuse(error, text, blank - before, before + len(bare))
    except (ValueError, OverflowError, RecursionError) as error:
        raise JsonPathSyntaxError.at(text, blank, str(error) or "it is nested too deeply") from None


def _is_comparison(text: str) -> bool:
    depth = 0
    found = False
    for token in _environment.lexer.tokenize(text):
        found = found or (depth == 0 and token.kind in _COMPARING)
        depth += (token.kind in _OPENING) - (token.kind in _CLOSING)
        if depth > MAX_NESTING:
            raise ValueError(f"it is nested deeper than {MAX_NESTING} brackets")
    return found


def _path(text: str) -> JSONPath:
    found = _environment.compile(text)
    if not isinstance(found, JSONPath):
        raise ValueError("several queries in one")
    return found


def _condition(text: str) -> BaseExpression:
    """Rejects a text that closes the bracket around it and continues: it is more than a condition."""
    segments = _path(text).segments
    selectors = segments[0].selectors
    if len(segments) != 1 or len(selectors) != 1 or not isinstance(selectors[0], Filter):
        raise ValueError("it is neither a path nor a comparison")
    return selectors[0].expression


def _refuse(error: JSONPathError, text: str, shift: int, length: int) -> NoReturn:
    """Reports the error at its position in the original text."""
    token, message = error.token, str(error.message)
    index = token.index if token is not None else 0
    if token is not None and (token.kind == tokens.TOKEN_EOF or index >= length):
        index, message = length, "it ends early"
    elif token is not None and message.startswith("expected TOKEN_"):
        message = f"unexpected {token.value!r}"
    raise JsonPathSyntaxError.at(text, min(max(index + shift, 0), len(text)), message) from None
