"""Completion at a place. The text there is often unfinished, so it is read by tokens, not as a tree; declarations in
the rest of the program come from its last parsable state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from plait.dialects.afl.language.lexer import ANY, Lexer
from plait.dialects.afl.language.program import Program
from plait.dialects.afl.language.static_types import BUILTIN_TYPES
from plait.dialects.afl.language.symbols import BUILTIN_MIXINS, Symbol, Symbols
from plait.dialects.afl.language.syntax_error import AflSyntaxError
from plait.dialects.afl.language.tokens import DECLARING, Token

from .signature import signature

ChoiceKind = Literal["keyword", "facet", "event", "workflow", "schema", "type", "step", "parameter", "namespace"]

_TOP = ("namespace", "facet", "event facet", "workflow", "schema", "implicit", "use")
_IN_BLOCK = ("yield", "andThen", "andThen foreach", "andThen when", "catch", "with", "sys.log", "sys.assert", "script")


@dataclass(frozen=True)
class Choice:
    text: str
    kind: ChoiceKind
    detail: str = ""


def choices_at(program: Program, text: str, offset: int) -> list[Choice]:
    tokens = _tokens(text[:offset])
    if tokens and tokens[-1].end == offset and tokens[-1].type not in _SIGNS:
        tokens = tokens[:-1]  # the word being typed
    return list(dict.fromkeys(_choices(program.symbols, tokens)))


_SIGNS = frozenset({"DOT", "COLON", "EQUALS", "LPAREN", "COMMA", "LBRACE", "RBRACE", "DOLLAR", "LBRACKET", "OPERATOR"})


def _choices(symbols: Symbols, tokens: Sequence[Token]) -> Iterator[Choice]:
    before = [each.type for each in tokens[-3:]]
    declaration = _declaration(tokens)
    match before:
        case [*_, "DOLLAR", "DOT"]:
            yield from _inputs(declaration)
        case [*_, "DOLLAR"]:
            return
        case [*_, "NAME", "DOT"] | [*_, "SYS", "DOT"]:
            yield from _members(symbols, declaration, tokens)
        case [*_, "USE"]:
            yield from (Choice(name, "namespace") for name in symbols.by_namespace if name)
        case [*_, "WITH"]:
            yield from _facets(symbols)
            yield from (Choice(name, "facet", "built-in mixin") for name in BUILTIN_MIXINS)
        case [*_, "YIELD"]:
            yield from _facets(symbols)
        case [*_, "COLON"] | [*_, "COLON", "LBRACKET"]:
            yield from (Choice(name, "type") for name in BUILTIN_TYPES)
            yield from (_choice(each) for each in symbols.by_name.values() if each.kind == "schema")
        case _:
            yield from _anywhere(symbols, declaration, tokens)


def _anywhere(symbols: Symbols, declaration: Sequence[Token], tokens: Sequence[Token]) -> Iterator[Choice]:
    if not tokens or tokens[-1].type in ("LBRACE", "RBRACE", "SEMICOLON"):
        words = _IN_BLOCK if _depth(declaration) > 0 else _TOP
        yield from (Choice(word, "keyword") for word in words)
        return
    inside = _open_parentheses(declaration)
    if tokens[-1].type in ("LPAREN", "COMMA") and inside:
        yield from _arguments(symbols, declaration)
        return
    if tokens[-1].type == "EQUALS" and not inside:
        yield from _facets(symbols, schemas=True)
        return
    yield from (Choice(name, "step", target) for name, target in _steps(declaration).items())
    yield Choice("$", "keyword", "inputs")
    yield from (Choice(word, "keyword") for word in (("true", "false", "null") if inside else _IN_BLOCK))


def _members(symbols: Symbols, declaration: Sequence[Token], tokens: Sequence[Token]) -> Iterator[Choice]:
    name = tokens[-2].value
    target = _steps(declaration).get(name)
    symbol = _symbol(symbols, target) if target is not None else None
    if symbol is not None:
        for each in {**symbol.parameters, **symbol.returns}:
            yield Choice(each, "parameter", symbol.qualified)
        return
    if name == "sys":
        yield from (Choice(word, "keyword") for word in ("log", "assert"))
    prefix = _qualified_before(tokens)
    for qualified, found in symbols.by_name.items():
        if qualified.startswith(prefix):
            yield Choice(qualified[len(prefix) :], found.kind, signature(found))


def _qualified_before(tokens: Sequence[Token]) -> str:
    """The qualified prefix, `a.b.`, at the end of the text."""
    parts: list[str] = []
    for each in reversed(tokens):
        if each.type not in ("NAME", "DOT"):
            break
        parts.append(each.value)
    return "".join(reversed(parts))


def _inputs(declaration: Sequence[Token]) -> Iterator[Choice]:
    """The parameters of the declaration, and the variables of enclosing foreach blocks."""
    depth = 0
    for at, each in enumerate(declaration):
        depth += (each.type == "LPAREN") - (each.type == "RPAREN")
        following = declaration[at + 1].type if at + 1 < len(declaration) else ""
        if each.type in ("ARROW", "LBRACE"):
            break
        if depth == 1 and each.type == "NAME" and following == "COLON":
            yield Choice(each.value, "parameter")
    for at, each in enumerate(declaration[:-1]):
        if each.type == "FOREACH":
            yield Choice(declaration[at + 1].value, "parameter", "foreach")


def _arguments(symbols: Symbols, declaration: Sequence[Token]) -> Iterator[Choice]:
    opened = _last_open(declaration)
    if opened is None or opened == 0:
        return
    name = _qualified_before(declaration[:opened])
    symbol = _symbol(symbols, name)
    if symbol is not None:
        yields = any(each.type == "YIELD" for each in declaration[max(opened - 4, 0) : opened])
        for each, parameter in (symbol.returns if yields else symbol.parameters).items():
            yield Choice(f"{each} = ", "parameter", getattr(parameter.type, "name", "list"))


def _facets(symbols: Symbols, *, schemas: bool = False) -> Iterator[Choice]:
    for each in symbols.by_name.values():
        if schemas or each.kind != "schema":
            yield _choice(each)


def _choice(symbol: Symbol) -> Choice:
    return Choice(symbol.name, symbol.kind, signature(symbol))


def _symbol(symbols: Symbols, name: str) -> Symbol | None:
    exact = symbols.by_name.get(name)
    short = symbols.by_short.get(name, ())
    return exact if exact is not None else short[0] if len(short) == 1 else None


def _steps(declaration: Sequence[Token]) -> dict[str, str]:
    """Steps by name, with what each calls; `NAME =` in parentheses is an argument."""
    found: dict[str, str] = {}
    depth = 0
    for at, each in enumerate(declaration):
        depth += (each.type == "LPAREN") - (each.type == "RPAREN")
        if depth == 0 and each.type == "EQUALS" and at and declaration[at - 1].type == "NAME":
            called = ""
            for more in declaration[at + 1 :]:
                if more.type not in ("NAME", "DOT"):
                    break
                called += more.value
            found[declaration[at - 1].value] = called
    return found


def _declaration(tokens: Sequence[Token]) -> Sequence[Token]:
    """The text from the last keyword that starts a declaration."""
    for at in range(len(tokens) - 1, -1, -1):
        if tokens[at].type in DECLARING:
            return tokens[at:]
    return tokens


def _depth(tokens: Sequence[Token]) -> int:
    namespace = bool(tokens) and tokens[0].type == "NAMESPACE"
    return sum((each.type == "LBRACE") - (each.type == "RBRACE") for each in tokens) - namespace


def _open_parentheses(tokens: Sequence[Token]) -> bool:
    return _last_open(tokens) is not None


def _last_open(tokens: Sequence[Token]) -> int | None:
    opened: list[int] = []
    for at, each in enumerate(tokens):
        if each.type == "LPAREN":
            opened.append(at)
        elif each.type == "RPAREN" and opened:
            opened.pop()
    return opened[-1] if opened else None


def _tokens(text: str) -> list[Token]:
    lexer = Lexer(text)
    found: list[Token] = []
    while True:
        try:
            token = lexer.next(ANY)
        except AflSyntaxError:
            continue
        if token.type == "$END":
            return found
        found.append(token)
