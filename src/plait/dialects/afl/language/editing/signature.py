"""One-line signatures of declarations."""

from __future__ import annotations

from plait.dialects.afl.language.formatting.inline import Inline
from plait.dialects.afl.language.source_file import SourceText
from plait.dialects.afl.language.symbols import Symbol
from plait.dialects.afl.language.tree import Facet, Parameter

_WORDS = {"facet": "facet", "event": "event facet", "workflow": "workflow", "schema": "schema"}


def signature(symbol: Symbol) -> str:
    inline = Inline(symbol.space.source)
    declaration = symbol.declaration
    word = f"{_WORDS[symbol.kind]} {symbol.qualified}"
    if not isinstance(declaration, Facet):
        return f"{word} {{ {', '.join(map(inline.parameter, declaration.fields))} }}"
    returns = f" => {inline.parameters(declaration.returns)}" if declaration.returns else ""
    return f"{word}{inline.parameters(declaration.parameters)}{returns}"


def described(symbol: Symbol) -> str:
    """The signature with the doc comment, in Markdown."""
    doc = symbol.declaration.doc
    text = f"```afl\n{signature(symbol)}\n```"
    if doc is None:
        return text
    lines = [f"- `{name}`: {about}" for name, about in doc.parameters]
    lines += [f"- returns `{name}`: {about}" for name, about in doc.returns]
    return "\n\n".join(part for part in (text, doc.description, "\n".join(lines)) if part)


def parameter_text(source: SourceText, parameter: Parameter) -> str:
    return Inline(source).parameter(parameter)
