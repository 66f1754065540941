"""Options that many commands share, and the parsers of their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from plait.kernel import values
from plait.kernel.errors import InvalidInput
from plait.kernel.json_text import MAX_VALUES

DEFAULT_DB = "sqlite:///plait.db"

RunArgument = Annotated[str, typer.Argument(metavar="ID", help="The run.", show_default=False)]
Db = Annotated[str, typer.Option("--db", envvar="PLAIT_DB", metavar="URL", help="The database.")]
Place = Annotated[
    str, typer.Option("--db", envvar="PLAIT_DB", metavar="URL", help="A database, or a server: http://host:port.")
]
Key = Annotated[
    str | None, typer.Option("--key", envvar="PLAIT_KEY", metavar="KEY", help="For a server.", show_default=False)
]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Continue until the run has ended.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Namespace = Annotated[
    str | None,
    typer.Option("--namespace", "-n", metavar="NAME", help="The namespace.", show_default="default, or the key's"),
]


HELP = {"help_option_names": ["-h", "--help"]}


def group() -> typer.Typer:
    """Makes a command group."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=HELP)


@dataclass(frozen=True, slots=True)
class Where:
    """Where a command acts: a database or a server, and the namespace in it."""

    url: str
    key: str | None = None
    namespace: str | None = None
    """The namespace; None: `default`, or the one of the key."""


def read_json(text: str, what: str, max_values: int = MAX_VALUES) -> Any:
    """Parses JSON from the command line, or with `@file` from a file (`@-`: from stdin)."""
    if text.startswith("@"):
        text, what = _read_file(text[1:], what), f"{what} in {text[1:]}"
    try:
        return values.parse(text, max_values=max_values)
    except InvalidInput as error:
        why = f"{error.what}: {error.why}" if error.why else error.what
        hint = "" if text[:1] in '"{[' else f"; a string is written '\"{text[:20]}\"'" if _is_word(text) else ""
        raise InvalidInput(error.code, f"{what} can't be used", why=why, fix=f"give it as JSON{hint}") from None


def _read_file(name: str, what: str) -> str:
    try:
        if name == "-":
            import sys

            return sys.stdin.read()
        return Path(name).read_text("utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InvalidInput("cli.bad_file", f"{what} can't be read from {name}", why=why, fix="name a file") from None


def _is_word(text: str) -> bool:
    return text.strip("-_.:/ ").isidentifier() or text.replace(" ", "").isalnum()


def read_inputs(pieces: Sequence[str]) -> dict[str, Any]:
    """Parses named inputs: `NAME=VALUE`, or a JSON object of them (`@file` from a file), any number of either."""
    found: dict[str, Any] = {}
    for piece in pieces:
        if piece.startswith(("{", "@")):
            read = read_json(piece, "the input")
            if not isinstance(read, dict):
                raise InvalidInput("cli.bad_input", f"{piece} holds no object", fix='write {"name": value}')
            found |= cast("dict[str, Any]", read)
        else:
            name, value = next(iter(read_pairs([piece], "--input").items()))
            found[name] = _value(value)
    return found


def _value(text: str) -> Any:
    """Parses JSON, or else returns the text itself: people don't quote."""
    try:
        return values.parse(text)
    except InvalidInput:
        return values.text("an input", text)


def read_pairs(pairs: Sequence[str], option: str) -> dict[str, str]:
    """Parses `k=v`, any number of them."""
    found: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise InvalidInput("cli.bad_pair", f"{option} {pair!r} can't be used", fix=f"write {option} key=value")
        found[key] = value
    return found


def read_edits(edits: Sequence[str]) -> dict[str, Any]:
    """Parses `PATH=JSON`, any number of them. A path may contain `=`: the first split that leaves JSON counts."""
    return dict(map(_read_edit, edits))


def _read_edit(edit: str) -> tuple[str, Any]:
    cut = edit.find("=")
    if cut < 1:
        raise InvalidInput("cli.bad_pair", f"--set {edit!r} can't be used", fix="write --set PATH=JSON")
    first: InvalidInput | None = None
    while cut > 0:
        try:
            return edit[:cut], read_json(edit[cut + 1 :], f"the new result of `{edit[:cut]}`")
        except InvalidInput as error:
            first = first or error
            cut = edit.find("=", cut + 1)
    assert first is not None
    raise first
