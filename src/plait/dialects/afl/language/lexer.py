"""Splits text into tokens, one at a time: whether a word is a keyword depends on the parser's state."""

from __future__ import annotations

import re
from collections.abc import Container

from .raw_script import closing_brace
from .syntax_error import AflSyntaxError
from .tokens import DOCUMENTED, KEYWORDS, SIGNS, Comment, Token

_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\r\n\f\v]+)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<sign>\#\{|=>|\|\||&&|==|!=|<=|>=|\+\+|//|/\*|[{}()\[\],;:.=$!+\-<>*/%])
    | (?P<number>[0-9]+(?P<fraction>\.[0-9]+(?:[eE][+-]?[0-9]+)?)?)
    | (?P<string>"[^"\\]*(?:\\.[^"\\]*)*")
    """,
    re.VERBOSE | re.DOTALL,
)
_NAMED = re.compile(r"(?:[ \t\r\n\f\v]|//[^\n]*|/\*.*?\*/)*(?::|=(?![=>]))", re.DOTALL)
"""What makes the word before it a plain name."""
_DEFAULT = re.compile(r"(?:[ \t\r\n\f\v]|//[^\n]*|/\*.*?\*/)*=>", re.DOTALL)
_WORD_NEXT = re.compile(r"[ \t\r\n\f\v]*([A-Za-z]+)")
ANY: Container[str] = frozenset(KEYWORDS.values()) | {"DEFAULT"}
"""Accepts all keywords: used while skipping text that can't be parsed."""


class Lexer:
    """`comments` has those met so far, `docs` maps an offset to the doc comment before it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.offset = 0
        self.comments: list[Comment] = []
        self.docs: dict[int, Comment] = {}
        self._before = ""
        self._before_that = ""

    def next(self, accepted: Container[str]) -> Token:
        """The next token; `accepted` has the types that the grammar allows here."""
        text = self.text
        while True:
            found = _TOKEN.match(text, self.offset)
            if found is None:
                return self._end()
            kind = found.lastgroup
            if kind == "space":
                self.offset = found.end()
                continue
            value = found.group()
            start, self.offset = found.span()
            if kind == "word":
                type = self._word_type(value, accepted)
            elif kind == "sign":
                if value == "//" or value == "/*":
                    self._comment(start, value)
                    continue
                type = SIGNS[value]
                if type == "LBRACE" and self._starts_script():
                    return self._raw(start)
            else:
                type = "STRING" if kind == "string" else "DOUBLE" if found["fraction"] is not None else "INT"
            self._before_that, self._before = self._before, type
            return Token(type, value, start, self.offset)

    def _word_type(self, word: str, accepted: Container[str]) -> str:
        keyword = KEYWORDS.get(word)
        if keyword is None:
            default = word == "_" and "DEFAULT" in accepted and _DEFAULT.match(self.text, self.offset)
            return "DEFAULT" if default else "NAME"
        if keyword not in accepted or self._before == "DOT" or _NAMED.match(self.text, self.offset):
            return "NAME"
        return keyword

    def _starts_script(self) -> bool:
        return self._before == "SCRIPT" or (self._before == "NAME" and self._before_that == "SCRIPT")

    def _raw(self, start: int) -> Token:
        closed = closing_brace(self.text, start)
        if closed is None:
            raise AflSyntaxError((start, start + 1), "This script has no end", "close it with '}'")
        self.offset = closed + 1
        self._before_that, self._before = self._before, "RAW"
        return Token("RAW", self.text[start : self.offset], start, self.offset)

    def _comment(self, start: int, opened: str) -> None:
        text = self.text
        if opened == "//":
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
        else:
            end = text.find("*/", start + 2) + 2
            if end < 2:
                self.offset = len(text)
                raise AflSyntaxError((start, start + 2), "This comment has no end", "close it with '*/'")
        self.offset = end
        comment = Comment("COMMENT", text[start:end], start, end)
        self.comments.append(comment)
        if comment.value.startswith("/**") and len(comment.value) > 4:
            described = _WORD_NEXT.match(text, end)
            if described is not None and KEYWORDS.get(described[1]) in DOCUMENTED:
                self.docs[described.start(1)] = comment

    def _end(self) -> Token:
        """The end of the text; raises if no token starts here."""
        start, text = self.offset, self.text
        if start >= len(text):
            return Token("$END", "", start, start)
        character = text[start]
        if character == '"':
            self.offset = len(text)
            raise AflSyntaxError((start, start + 1), "This string has no end", "close it with '\"'")
        self.offset = start + 1
        if character == "'":
            raise AflSyntaxError((start, start + 1), 'Unexpected "\'"', "strings have double quotes")
        shown = f"'{character}'" if character.isprintable() else f"the character U+{ord(character):04X}"
        raise AflSyntaxError((start, start + 1), f"Unexpected {shown}", _advice(character))


def _advice(character: str) -> str:
    match character:
        case "#":
            return "a map starts with '#{', a comment with '//'"
        case "&" | "|":
            return f"write '{character * 2}'"
        case "“" | "”" | "„" | "‘" | "’":
            return "use straight double quotes"
        case _:
            return "names have letters of ASCII, digits and '_'" if character.isalpha() else "remove it"
