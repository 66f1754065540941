"""From text to a syntax tree, with every syntax error that can be separated from the others.

Lark builds the tables of an LALR parser from `grammar.lark`; tokens are read one by one, because the lexer asks what
the parser accepts. After an error the parser drops the current declaration, and continues with the next one.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any, NamedTuple, cast

from .diagnostic import Diagnostics
from .lexer import ANY, Lexer
from .limits import LIMIT_EXCEEDED, MAX_FILE_BYTES
from .nesting import Nesting
from .source_file import SourceText
from .syntax_error import AflSyntaxError
from .syntax_hints import unexpected
from .tables import Reduction, tables
from .tokens import DECLARING, Comment, Token
from .tree import File
from .tree_builder import documented


class Parsed(NamedTuple):
    source: SourceText
    tree: File
    comments: tuple[Comment, ...]


def parse(source: SourceText, diagnostics: Diagnostics) -> Parsed:
    """The tree of what could be parsed; errors are noted."""
    refused = _refused(source.text)
    if refused is not None:
        diagnostics.error(source, refused.span, refused.code, refused.message, refused.hint)
        return Parsed(source, File(0, 0, ()), ())
    parser = _Parser(source, diagnostics)
    tree = parser.run()
    return Parsed(source, documented(tree, parser.lexer.docs), tuple(parser.lexer.comments))


def _refused(text: str) -> AflSyntaxError | None:
    nul = text.find("\0")
    if nul >= 0:
        return AflSyntaxError((nul, nul + 1), "Unexpected NUL character", "AFL is text: remove it")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        return AflSyntaxError((error.start, error.end), "This text is not valid Unicode", "save it as UTF-8")
    if size > MAX_FILE_BYTES:
        return AflSyntaxError(
            (0, 0), f"The file has {size:,} bytes: the limit is {MAX_FILE_BYTES:,}", "split it", LIMIT_EXCEEDED
        )
    return None


_DECLARES = re.compile(
    r"(?:event|facet|workflow|schema|implicit|namespace|uses?)(?:[ \t\r\n\f\v]|//[^\n]*|/\*.*?\*/)+[A-Za-z_]", re.DOTALL
)
_FIRST = re.compile(r"(?:^|[;}]|\*/)[ \t\r\f\v]*$")
"""What may precede a declaration in its line."""


_MEMBERS = frozenset({"declaration", "file_members", "namespace_members"})
"""What the parser can reduce to in a state between declarations."""


class _Parser:
    def __init__(self, source: SourceText, diagnostics: Diagnostics) -> None:
        self.lexer = Lexer(source.text)
        self._source = source
        self._diagnostics = diagnostics
        self._nesting = Nesting()
        self._tables = tables()
        self._states = [self._tables.start]
        self._values: list[Any] = []
        self._token: Token | None = None
        """The token being read, not yet on the stack."""
        self._resumed_at = -1
        """Where it resumed after the last error. It never resumes there again, so that it reaches the end."""

    def run(self) -> File:
        """Parses the whole text, resuming after every error."""
        token: Token | None = None
        while True:
            try:
                return self._read(token)
            except AflSyntaxError as error:
                self._diagnostics.error(self._source, error.span, error.code, error.message, error.hint)
                token = self._recover()

    def _read(self, token: Token | None) -> File:
        """Parses to the end of the text, or to the first error."""
        lex, take, feed = self.lexer.next, self._nesting.take, self._feed
        actions, states = self._tables.actions, self._states
        self._token = token
        while True:
            if token is None:
                self._token = None
                self._token = token = lex(actions[states[-1]])
            take(token)
            feed(token)
            if token.type == "$END":
                return self._values[-1]
            token = None

    def _feed(self, token: Token) -> None:
        """Reduces what is complete before the token, then shifts it."""
        (_, end, actions, gotos), states, values = self._tables, self._states, self._values
        type = token.type
        while True:
            action = actions[states[-1]].get(type)
            if action is None:
                if states[-1] == end:
                    return
                raise unexpected(token, list(actions[states[-1]]), values)
            if action.__class__ is int:
                states.append(cast("int", action))
                values.append(token)
                return
            size, origin, callback = cast("Reduction", action)
            parts: list[Any] = []
            if size:
                parts = values[-size:]
                del values[-size:], states[-size:]
            values.append(callback(parts))
            states.append(gotos[states[-1]][origin])

    def _recover(self) -> Token:
        """Drops the declaration with an error; returns the token to resume with."""
        self._complete_declaration()
        depth = self._drop_declaration()
        token = self._token
        while True:
            token = token or self._skip()
            match token.type:
                case "LBRACE" | "HASHBRACE":
                    depth += 1
                case "RBRACE" if depth:
                    depth -= 1
                case "RBRACE" if self._is_new(token) and "RBRACE" in self._tables.actions[self._states[-1]]:
                    return self._resumed(token)
                case type if type == "$END" or (type in DECLARING and self._is_new(token) and self._declares(token)):
                    self._close_namespace(token)
                    return self._resumed(token)
                case _:
                    pass
            token = None

    def _complete_declaration(self) -> None:
        """Keeps a declaration that is complete at the error: the parser is shown the start of another one."""
        if "FACET" in self._tables.actions[self._states[-1]]:
            with contextlib.suppress(AflSyntaxError):
                self._feed(Token("FACET", "", self.lexer.offset, self.lexer.offset))
                self._states.pop()
                self._values.pop()

    def _drop_declaration(self) -> int:
        """Drops the declaration; returns the number of braces open in it."""
        dropped = 0
        while _MEMBERS.isdisjoint(self._tables.gotos[self._states[-1]]):
            self._states.pop()
            value = self._values.pop()
            dropped += isinstance(value, Token) and value.type == "LBRACE"
        return dropped

    def _skip(self) -> Token:
        while True:
            try:
                return self.lexer.next(ANY)
            except AflSyntaxError:
                continue  # reports one error per declaration

    def _is_new(self, token: Token) -> bool:
        return token.start > self._resumed_at

    def _declares(self, token: Token) -> bool:
        text = self._source.text
        line = text.rfind("\n", 0, token.start) + 1
        return _FIRST.search(text[line : token.start]) is not None and _DECLARES.match(text, token.start) is not None

    def _close_namespace(self, token: Token) -> None:
        """Adds the closing brace of a namespace if it is missing."""
        accepted = self._tables.actions[self._states[-1]]
        if token.type not in accepted and "RBRACE" in accepted:
            self._feed(Token("RBRACE", "}", token.start, token.start))

    def _resumed(self, token: Token) -> Token:
        if not self._is_new(token):  # the end of a text that can't be completed: the program is empty
            self._states[1:], self._values[:] = [], []
        self._resumed_at = token.start
        self._nesting.reset(sum(isinstance(each, Token) and each.type == "LBRACE" for each in self._values))
        return token
