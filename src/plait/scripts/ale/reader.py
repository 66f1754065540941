"""Parses a text into forms. Nesting is kept on our own stack, so a deep text can't exhaust Python's."""

from __future__ import annotations

from .errors import AleSyntaxError, Place
from .forms import Form, ListForm, Literal, Name, ObjectForm, SetForm, VectorForm
from .kinds import Keyword
from .limits import MAX_NESTING, MAX_TEXT
from .numerals import numeral
from .tokens import Token, tokens

_CLOSERS = {"(": ")", "[": "]", "{": "}", "#{": "}"}


class _Open:
    """A form whose end has not been read yet."""

    __slots__ = ("dotted", "items", "opener", "place", "tail")

    def __init__(self, opener: str, place: Place) -> None:
        self.opener = opener
        self.place = place
        self.items: list[Form] = []
        self.dotted = False
        self.tail: Form | None = None

    def add(self, form: Form) -> None:
        if not self.dotted:
            self.items.append(form)
        elif self.tail is None:
            self.tail = form
        else:
            raise AleSyntaxError("syntax", "only one item may follow a dot", form.place)

    def dot(self, place: Place) -> None:
        if self.opener != "(" or not self.items or self.dotted:
            raise AleSyntaxError("syntax", "a dot belongs before the last item of a list", place)
        self.dotted = True


def read(text: str) -> list[Form]:
    """All forms of a text, in order."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT:
        raise AleSyntaxError("script_too_large", "script too large")
    top = _Open("", (1, 1))
    stack = [top]
    for token in tokens(text):
        if token.kind == "quote" or (token.kind == "bracket" and token.text in _CLOSERS):
            if len(stack) > MAX_NESTING:
                raise AleSyntaxError("nesting_limit", f"nested deeper than {MAX_NESTING} levels", token.place)
            stack.append(_Open(token.text, token.place))
        elif token.kind == "bracket":
            _add(stack, _closed(stack, token))
        elif token.text == "." and token.kind == "atom":
            stack[-1].dot(token.place)
        else:
            _add(stack, _atom(token))
    if len(stack) > 1:
        missing = _CLOSERS.get(stack[-1].opener, "a form after the quote")
        raise AleSyntaxError("syntax", f"end of text, expected {missing}", stack[-1].place)
    return top.items


def _add(stack: list[_Open], form: Form) -> None:
    """Adds a finished form to the innermost open one, and completes quotes that wait for it."""
    while stack[-1].opener == "'":
        quote = stack.pop()
        form = ListForm(quote.place, (Name(quote.place, "quote"), form))
    stack[-1].add(form)


def _closed(stack: list[_Open], token: Token) -> Form:
    opened = stack[-1]
    if _CLOSERS.get(opened.opener) != token.text:
        raise AleSyntaxError("syntax", f"unexpected {token.text}", token.place)
    if opened.dotted and opened.tail is None:
        raise AleSyntaxError("syntax", "an item must follow a dot", token.place)
    stack.pop()
    place, items = opened.place, tuple(opened.items)
    match opened.opener:
        case "[":
            return VectorForm(place, items)
        case "#{":
            return SetForm(place, items)
        case "{":
            if len(items) % 2:
                raise AleSyntaxError("odd_object", "map must contain an even number of elements", place)
            return ObjectForm(place, items)
        case _:
            return _list(place, items, opened.tail)


def _list(place: Place, items: tuple[Form, ...], tail: Form | None) -> ListForm:
    """`(a . (b c))` is the list `(a b c)`."""
    if isinstance(tail, ListForm):
        return ListForm(place, items + tail.items, tail.tail)
    return ListForm(place, items, tail)


def _atom(token: Token) -> Form:
    text, place = token.text, token.place
    if token.kind == "string":
        return Literal(place, text)
    if text == "#t" or text == "#f":
        return Literal(place, text == "#t")
    if text.startswith(":") and len(text) > 1:
        return Literal(place, Keyword(text[1:]))
    number = numeral(text, place)
    return Name(place, text) if number is None else Literal(place, number)
