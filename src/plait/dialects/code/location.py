"""The location of an operation: the path of names from the root, with loop iterations as numbers.

`step("inner")` in the first iteration of `loop("outer")` is `("outer", 0, "inner")`, printed
`outer/~0/inner`. Printing escapes `%`, `/` and a leading `~`, so a printed path can be parsed back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from uuid import NAMESPACE_OID, uuid5

from plait.kernel import values
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import RunId, TaskToken

from .errors import WorkflowCodeError
from .path_words import read_part

Location = tuple[str | int, ...]

MAX_NAME = 500
MAX_DEPTH = 64

_plain = re.compile(r"[A-Za-z0-9_.:-][A-Za-z0-9_.: ~-]{0,499}").fullmatch


def is_plain(name: str) -> bool:
    """Whether a name is valid and needs no escaping, as most do."""
    if name.isidentifier() and name.isascii():  # many times faster than a regular expression
        return len(name) <= MAX_NAME
    return _plain(name) is not None


def segment(part: str | int) -> str:
    if isinstance(part, int):
        return f"~{part}"
    if "%" in part or "/" in part:
        part = part.replace("%", "%25").replace("/", "%2F")
    return "%7E" + part[1:] if part.startswith("~") else part


def text(location: Location) -> str:
    return "/".join(map(segment, location))


def parse(path: str) -> Location:
    return tuple(map(read_part, path.split("/")))


def check_name(kind: str, name: object) -> str:
    """Checks a name where it is used, since it addresses results for good."""
    if type(name) is str and 0 < len(name) <= MAX_NAME and "\0" not in name and name.isascii():
        return name
    if not isinstance(name, str):
        what = f"{kind} name is {_short(name)}"
        raise WorkflowCodeError("BAD_NAME", what, fix="give a string as the first argument")
    if not name:
        raise WorkflowCodeError("BAD_NAME", f"{kind} name is empty", fix="name it after what it does")
    if len(name) > MAX_NAME:
        what, why = f"{kind} name {name[:40]!r} is too long", f"it has {len(name)} characters"
        raise WorkflowCodeError("BAD_NAME", what, fix=f"use at most {MAX_NAME}", why=why)
    try:
        return values.text(f"{kind} name {name[:40]!r}", name)
    except InvalidInput as error:
        raise WorkflowCodeError("BAD_NAME", error.what, fix=error.fix, why=error.why) from None


def _short(name: object) -> str:
    """Functions by their names: a caller who forgets a step's name passes its function instead."""
    if called := getattr(name, "__name__", ""):
        return f"the function `{called}`"
    return repr(name)[:80]


def token_of(at: str, generation: int) -> TaskToken:
    """The kernel's token for the work behind an operation; a rewind makes all tokens new."""
    return TaskToken(f"~{generation}/{at}" if generation else at)


def earlier_place(at: str, era: int) -> str:
    """The path of an operation from before the run continued as new for the `era`th time."""
    return f"~before.{era}/{at}"


def child_id(run_id: RunId, at: str, generation: int, recoveries: int = 0) -> RunId:
    """The id of a child that was given none: derived, so that every replay yields the same."""
    again = f":{recoveries}" if recoveries else ""
    found = str(uuid5(NAMESPACE_OID, f"{run_id}:{token_of(at, generation)}{again}"))
    namespace, slash, _ = run_id.rpartition("/")
    return RunId(f"{namespace}{slash}{found}")


def place_of(token: TaskToken) -> tuple[str, int]:
    """The operation behind a token, and its generation. No path starts with an iteration."""
    head, slash, rest = token.partition("/")
    if slash and head.startswith("~") and head[1:].isdigit():
        return rest, int(head[1:])
    return token, 0


def loops_of(path: str) -> Iterator[tuple[str, int]]:
    pieces = path.split("/")
    for index, piece in enumerate(pieces):
        if index and piece.startswith("~") and piece[1:].isdigit():
            yield "/".join(pieces[:index]), int(piece[1:])
