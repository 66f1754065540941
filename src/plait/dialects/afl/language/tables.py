"""The tables of the LALR parser, which Lark builds from `grammar.lark`.

They are converted to a minimal form once per process: Lark's own loop over its tables takes twice the time, and this
loop dominates the time of checking a program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, cast

from plait.extras import extra

from .tree_builder import TreeBuilder


class Reduction(NamedTuple):
    """Replaces a number of parts by one: the result of the callback."""

    size: int
    origin: str
    callback: Callable[[list[Any]], Any]


Actions = Mapping[str, int | Reduction]
"""By type of token: the state to go to, or the reduction to do first."""


class Tables(NamedTuple):
    start: int
    end: int
    actions: Mapping[int, Actions]
    """By state."""
    gotos: Mapping[int, Mapping[str, int]]
    """By state, and by the rule that was reduced."""


@cache
def tables() -> Tables:
    with extra("afl", "AFL"):
        from lark import Lark
        from lark.lexer import Lexer as LarkLexer

    class NoLexer(LarkLexer):
        """A stand-in, as Lark requires a lexer; its own could not ask the parser which words are keywords."""

        def __init__(self, conf: object) -> None: ...

        def lex(self, lexer_state: object, parser_state: object) -> Any:
            return iter(())

    text = files("plait.dialects.afl.language").joinpath("grammar.lark").read_text(encoding="utf-8")
    lark = cast("Any", Lark(text, parser="lalr", lexer=NoLexer, transformer=cast("Any", TreeBuilder())))
    conf = lark.parse_interactive("").parser_state.parse_conf
    actions: dict[int, dict[str, int | Reduction]] = {}
    gotos: dict[int, dict[str, int]] = {}
    reductions = {
        rule: Reduction(len(rule.expansion), str(rule.origin.name), callback)
        for rule, callback in conf.callbacks.items()
        if not isinstance(rule, str)
    }
    for state, row in conf.states.items():
        actions[state], gotos[state] = {}, {}
        for symbol, (_, target) in row.items():
            name = str(symbol)
            if not isinstance(target, int):
                actions[state][name] = reductions[target]
            elif name.isupper() or name == "$END":
                actions[state][name] = target
            else:
                gotos[state][name] = target
    return Tables(conf.start_state, conf.end_state, actions, gotos)
