"""Arguments of a recorded call: references in them are checked, and text that only looks like one is escaped.

What is stored is what a replay resolves. So each string is first stored in a form that can't be misread later,
whatever names steps get; what is forwarded is the stored form, resolved.

    a reference that resolves                            stays
    unknown, but with a path, braces or like `word_1`    refused: the caller mistyped it
    a bare `@octocat`                                    text, stored as `@@octocat`
    `@@octocat` within text                              text as it is, stored with one `@` more
    `@@` before what would be a reference or refused     an escape, as in every definition
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, Final, NamedTuple, cast

from plait.conditions.paths import MISSING
from plait.dialects.refs.references.heads import CTX_FIELDS, places
from plait.dialects.refs.references.resolve import Scope, lookup
from plait.dialects.refs.references.template import Malformed, Ref, escaped, parse
from plait.kernel.errors import Flaw

_MARKS: Final = re.compile(r"@{2,}(?=[A-Za-z_{])")
_NUMBERED: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*_[0-9]+", re.ASCII)
_LONGEST_PATH: Final = 32
_LISTED: Final = 30
BAD_REF: Final = "bad_ref"


class Known(NamedTuple):
    """What references of a recording may name at the moment."""

    scope: Scope
    """Includes the outputs of steps; those of running or failed steps are ignored."""
    running: Sequence[str] = ()
    failed: Mapping[str, str] = {}
    """Failed steps, with the reasons."""

    @property
    def heads(self) -> set[str]:
        return {"input", "ctx", *self.scope.outputs, *self.running, *self.failed}


class Arguments(NamedTuple):
    stored: Any
    waits_for: tuple[str, ...] = ()
    """Calls in flight that they refer to, in order of their first mention."""
    flaws: tuple[Flaw, ...] = ()


def read_arguments(arguments: Any, known: Known) -> Arguments:
    """Reads the arguments of a call. Resolving `stored` yields what is forwarded, once `waits_for` have completed. With
    flaws, nothing is recorded."""
    stored = _stored(arguments, known.heads)
    waits: dict[str, None] = {}
    flaws: list[Flaw] = []
    for place in places(stored):
        token = place.token
        why = _malformed(token.text) if isinstance(token, Malformed) else _wrong(token, known)
        if why:
            flaws.append(Flaw(BAD_REF, place.pointer, f"{why} {_advice(token.text, known)}"))
        elif isinstance(token, Ref) and token.head in known.running:
            waits[token.head] = None
    return Arguments(stored, tuple(waits), tuple(flaws))


def missing_refs(stored: Any, scope: Scope) -> list[Flaw]:
    """For arguments that have waited: references that the results turned out not to have."""
    found = Known(scope)
    return [
        Flaw(BAD_REF, place.pointer, f"{_missing(place.token)} {_advice(place.token.text, found)}")
        for place in places(stored)
        if isinstance(place.token, Ref) and lookup(place.token, scope) is MISSING
    ]


# -- the stored form ---------------------------------------------------------------------------------------------------


def _stored(value: Any, heads: Set[str]) -> Any:
    if isinstance(value, str):
        return _stored_text(value, heads) if "@" in value else value
    if isinstance(value, dict):
        return {key: _stored(each, heads) for key, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_stored(each, heads) for each in cast("list[Any]", value)]
    return value


def _stored_text(text: str, heads: Set[str]) -> str:
    marked = _more_marks(text, heads)
    parts = parse(marked).parts
    if not any(isinstance(part, Ref) and _is_text(part, heads) for part in parts):
        return marked
    return "".join(_stored_part(part, heads) for part in parts)


def _stored_part(part: str | Ref | Malformed, heads: Set[str]) -> str:
    if isinstance(part, str):
        return escaped(part)
    return f"@{part.text}" if isinstance(part, Ref) and _is_text(part, heads) else part.text


def _more_marks(text: str, heads: Set[str]) -> str:
    """Adds an `@` to `@@name` within text that is no reference: a replay would otherwise remove one."""
    found: list[str] = []
    at = 0
    for marks in _MARKS.finditer(text):
        found.append(text[at : marks.end()])
        at = marks.end()
        token = parse("@" + text[at:]).parts[0]
        is_whole = marks.start() == 0 and len(token if isinstance(token, str) else token.text) == len(text) - at + 1
        if isinstance(token, Ref) and _is_text(token, heads) and not is_whole:
            found.append("@")
    return "".join([*found, text[at:]])


def _is_text(token: Ref, heads: Set[str]) -> bool:
    """Whether a token is a bare word without a step: a handle or a decorator rather than a mistyped reference."""
    if token.head in heads or token.path or token.braced:
        return False
    return token.head not in ("item", "index") and not _NUMBERED.fullmatch(token.head)


# -- flaws -------------------------------------------------------------------------------------------------------------


def _wrong(token: Ref, known: Known) -> str:
    """Why it can't be resolved; empty if it can, now or later."""
    if token.head in known.failed:
        return f'"{token.text}": the call {token.head} failed: {known.failed[token.head]}.'
    if token.head not in known.heads:
        return f'"{token.text}" names no step.'
    if len(token.path) > _LONGEST_PATH:
        return f'"{token.text}" has more than {_LONGEST_PATH} parts.'
    if token.head in known.running or lookup(token, known.scope) is not MISSING:
        return ""
    return _missing(token)


def _missing(token: Ref) -> str:
    return f'"{token.text}": there is no such value.'


def _malformed(text: str) -> str:
    return f'"{text}" is no reference.'


def _advice(text: str, known: Known) -> str:
    listed = list(_valid(known))
    more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    return f'Valid: {", ".join(listed[:_LISTED])}{more}. For text write "@{text}".'


def _valid(known: Known) -> Iterator[str]:
    """Valid references, newest steps first: they are most likely meant."""
    outputs = known.scope.outputs
    done = [name for name in outputs if name not in known.running and name not in known.failed]
    for name in [*known.running, *reversed(done)]:
        yield f"@{name}{_fields(outputs.get(name))}"
    yield f"@input{_fields(known.scope.input)}"
    yield "@ctx." + "|".join(CTX_FIELDS)


def _fields(value: Any) -> str:
    keys = [*cast("dict[str, Any]", value)][:8] if isinstance(value, dict) else []
    return f" ({', '.join(f'.{key}' for key in keys)})" if keys else ""
