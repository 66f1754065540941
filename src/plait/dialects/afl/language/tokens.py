"""The words and symbols of AFL.

Keywords count only where the grammar expects them: a word is a keyword if the grammar accepts it here, it does not
follow a dot, and neither `:` nor `=` follows it.
"""

from __future__ import annotations

KEYWORDS = {
    word: word.upper()
    for word in (
        *("namespace", "use", "uses", "event", "facet", "workflow", "schema", "implicit"),
        *("with", "as", "andThen", "foreach", "in", "when", "case", "script", "catch", "prompt", "yield", "sys"),
        *("not", "contains", "startsWith", "endsWith", "true", "false", "null"),
    )
} | {"uses": "USE", "contains": "WORD_OPERATOR", "startsWith": "WORD_OPERATOR", "endsWith": "WORD_OPERATOR"}

SIGNS = {
    "{": "LBRACE",
    "}": "RBRACE",
    "(": "LPAREN",
    ")": "RPAREN",
    "[": "LBRACKET",
    "]": "RBRACKET",
    "#{": "HASHBRACE",
    ",": "COMMA",
    ";": "SEMICOLON",
    ":": "COLON",
    ".": "DOT",
    "=": "EQUALS",
    "=>": "ARROW",
    "$": "DOLLAR",
    "!": "BANG",
    "+": "SIGN",
    "-": "SIGN",
} | dict.fromkeys(("||", "&&", "==", "!=", "<", "<=", ">", ">=", "++", "*", "/", "%"), "OPERATOR")

DECLARING = frozenset({"NAMESPACE", "USE", "EVENT", "FACET", "WORKFLOW", "SCHEMA", "IMPLICIT"})
"""What starts a declaration: parsing resumes here after an error."""
DOCUMENTED = frozenset({"NAMESPACE", "EVENT", "FACET", "WORKFLOW", "SCHEMA"})

NAMES = {
    "NAME": "a name",
    "INT": "a number",
    "DOUBLE": "a number",
    "STRING": "a string",
    "RAW": "a script",
    "DEFAULT": "'_'",
    "OPERATOR": "an operator",
    "WORD_OPERATOR": "an operator",
    "SIGN": "an operator",
    "$END": "the end of the file",
} | {type: f"'{sign}'" for sign, type in SIGNS.items() if type not in ("OPERATOR", "SIGN")}


def shown(type: str) -> str:
    """The name of a token type in a message."""
    found = NAMES.get(type)
    if found is not None:
        return found
    word = next((word for word, known in KEYWORDS.items() if known == type), type.lower())
    return f"'{word}'"


class Token:
    """A token. Not frozen, and not a tuple, because a large program has hundreds of thousands."""

    __slots__ = ("end", "start", "type", "value")

    def __init__(self, type: str, value: str, start: int, end: int) -> None:
        self.type = type
        self.value = value
        self.start = start
        self.end = end

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end


class Comment(Token):
    """A comment, which is kept apart from the program."""
