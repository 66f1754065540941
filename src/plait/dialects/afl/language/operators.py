"""Operators by precedence, and chains of them as trees.

    ||   &&   == != < <= > >= in "not in" contains startsWith endsWith   ++   + -   * / %     (loosest first)

Comparisons don't chain: `a < b < c` is an error. All others group to the left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from .syntax_error import AflSyntaxError
from .tokens import Token
from .tree import Binary, Concat, Expression

COMPARISON = 3
CONCATENATION = 4

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "in", "not in", "contains", "startsWith", "endsWith")
PRECEDENCE = (
    {"||": 1, "&&": 2}
    | dict.fromkeys(COMPARISONS, COMPARISON)
    | {"++": CONCATENATION, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
)


def fold(chain: Sequence[Expression | Token]) -> Expression:
    """Builds a tree from alternating operands and operators."""
    operands = [cast("Expression", chain[0])]
    waiting: list[Token] = []
    for at in range(1, len(chain), 2):
        operator = cast("Token", chain[at])
        level = PRECEDENCE[operator.value]
        while waiting and PRECEDENCE[waiting[-1].value] >= level:
            if level == COMPARISON == PRECEDENCE[waiting[-1].value]:
                raise AflSyntaxError(
                    operator.span,
                    f"Unexpected '{operator.value}' after another comparison",
                    "join comparisons with '&&', or put one in parentheses",
                )
            _reduce(operands, waiting.pop())
        waiting.append(operator)
        operands.append(cast("Expression", chain[at + 1]))
    while waiting:
        _reduce(operands, waiting.pop())
    return operands[0]


def _reduce(operands: list[Expression], operator: Token) -> None:
    right = operands.pop()
    left = operands.pop()
    if operator.value == "++":
        # A parenthesized operand is a Group, so a Concat here has no parentheses: it extends the same list.
        parts = left.operands if isinstance(left, Concat) else (left,)
        operands.append(Concat(left.start, right.end, (*parts, right)))
    else:
        operands.append(Binary(left.start, right.end, operator.value, left, right))
