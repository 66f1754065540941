"""The references of an expression."""

from __future__ import annotations

from collections.abc import Iterator

from plait.dialects.afl.language.tree import (
    Binary,
    Concat,
    Expression,
    Group,
    Index,
    InputRef,
    ListLiteral,
    MapLiteral,
    Member,
    Reference,
    StepRef,
    Unary,
)


def references(expression: Expression) -> Iterator[Reference]:
    match expression:
        case InputRef() | StepRef():
            yield expression
        case Binary():
            yield from references(expression.left)
            yield from references(expression.right)
        case Unary():
            yield from references(expression.operand)
        case Concat():
            for each in expression.operands:
                yield from references(each)
        case Group():
            yield from references(expression.inner)
        case Index():
            yield from references(expression.target)
            yield from references(expression.index)
        case Member():
            yield from references(expression.target)
        case ListLiteral():
            for each in expression.elements:
                yield from references(each)
        case MapLiteral():
            for entry in expression.entries:
                yield from references(entry.value)
        case _:
            pass
