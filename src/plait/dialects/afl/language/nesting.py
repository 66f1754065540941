"""Keeps trees shallow while they are built, because later passes are recursive.

`Nesting` counts tokens that may deepen an expression, a fast overestimate; so it refuses only the absurd.
`check_depth` then measures expressions that are long enough to be too deep.
"""

from __future__ import annotations

from .limits import LIMIT_EXCEEDED, MAX_BLOCK_NESTING, MAX_EXPRESSION_DEPTH
from .syntax_error import AflSyntaxError
from .tokens import Token
from .tree import (
    Binary,
    Concat,
    Expression,
    Group,
    Index,
    ListLiteral,
    MapLiteral,
    Member,
    Unary,
)

_OPENING = frozenset({"LPAREN", "LBRACKET", "HASHBRACE"})
_DEEPENING = frozenset({"SIGN", "BANG", "OPERATOR", "WORD_OPERATOR", "IN", "DOT"})
_ENDING = frozenset({"COMMA", "EQUALS", "COLON", "SEMICOLON", "ARROW"})
_MOST_TOKENS = 2000
_AROUND = 4
"""Parentheses that may surround an expression without being part of it."""
_MOST_BRACES = 2 * MAX_BLOCK_NESTING + 8
"""A `when` has braces around those of its cases; so has a namespace."""


class Nesting:
    def __init__(self) -> None:
        self.reset(0)

    def reset(self, braces: int) -> None:
        """Resets the counter at a place where `braces` braces are open."""
        self._braces = braces
        self._levels = [0]
        self._total = 0

    def take(self, token: Token) -> None:
        type = token.type
        if type in _DEEPENING:
            self._deepen(token)
        elif type in _OPENING:
            self._levels.append(0)
            self._deepen(token)
            if len(self._levels) > MAX_EXPRESSION_DEPTH + _AROUND:
                _refuse(token, f"This expression is nested deeper than {MAX_EXPRESSION_DEPTH} levels")
        elif type == "RPAREN" or type == "RBRACKET" or (type == "RBRACE" and len(self._levels) > 1):
            if len(self._levels) > 1:
                self._total -= self._levels.pop()
            if type == "RBRACKET":
                self._deepen(token)
        elif type in _ENDING:
            self._total -= self._levels[-1]
            self._levels[-1] = 0
        elif type == "LBRACE":
            self.reset(self._braces + 1)
            if self._braces > _MOST_BRACES:
                _refuse(token, f"Blocks are nested deeper than {MAX_BLOCK_NESTING} levels")
        elif type == "RBRACE":
            self.reset(max(self._braces - 1, 0))
        elif type == "WITH" or type == "NAME":
            return
        elif type in ("YIELD", "ANDTHEN", "CASE", "FACET", "USE"):
            self.reset(self._braces)

    def _deepen(self, token: Token) -> None:
        self._levels[-1] += 1
        self._total += 1
        if self._total > _MOST_TOKENS:
            _refuse(token, f"This expression has more than {_MOST_TOKENS:,} operators")


def check_depth(expression: Expression) -> None:
    """Raises if an expression is too deep."""
    if expression.end - expression.start <= MAX_EXPRESSION_DEPTH:
        return  # each level takes at least one character
    waiting = [(expression, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_EXPRESSION_DEPTH:
            raise AflSyntaxError(
                node.span,
                f"This expression is nested deeper than {MAX_EXPRESSION_DEPTH} levels",
                "compute parts of it in steps of their own",
                LIMIT_EXCEEDED,
            )
        waiting.extend((each, depth + 1) for each in _parts(node))


def _parts(node: Expression) -> tuple[Expression, ...]:
    match node:
        case Binary():
            return node.left, node.right
        case Unary():
            return (node.operand,)
        case Concat():
            return node.operands
        case Group():
            return (node.inner,)
        case Index():
            return node.target, node.index
        case Member():
            return (node.target,)
        case ListLiteral():
            return node.elements
        case MapLiteral():
            return tuple(each.value for each in node.entries)
        case _:
            return ()


def _refuse(token: Token, message: str) -> None:
    raise AflSyntaxError(token.span, message, "compute parts of it in steps of their own", LIMIT_EXCEEDED)
