"""Problems that keep a draft from becoming a working template."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from plait.conditions.paths import MISSING
from plait.definitions.flaws import escape
from plait.dialects.refs.references.heads import places
from plait.dialects.refs.references.template import Ref

from .draft import Problem
from .literals import literal
from .secret_names import looks_secret

REF_TO_EXCLUDED: Final = "ref_to_excluded"
SECRET: Final = "secret_literal"


def refs_to_excluded(steps: Sequence[Mapping[str, Any]], excluded: Collection[str]) -> list[Problem]:
    """`excluded` are the names of recorded steps as the template would call them."""
    return [
        Problem(REF_TO_EXCLUDED, f"/steps/{index}/input{place.pointer}", _excluded_text(step["name"], place.token))
        for index, step in enumerate(steps)
        for place in places(step["input"])
        if isinstance(place.token, Ref) and place.token.head in excluded
    ]


def _excluded_text(step: str, ref: Ref) -> str:
    return (
        f'Step "{step}" refers to "{ref.text}", and "{ref.head}" is left out. '
        f'Include "{ref.head}", or exclude "{step}", too.'
    )


def literal_secrets(steps: Sequence[Mapping[str, Any]]) -> list[Problem]:
    return [
        Problem(SECRET, pointer, f'Step "{step["name"]}": `{name}` looks like a secret. {_ADVICE}', "warning")
        for index, step in enumerate(steps)
        for pointer, name in _secrets(step["input"], f"/steps/{index}/input")
    ]


_ADVICE: Final = "Accept its suggestion to make it a parameter, or it is saved with the template."


def _secrets(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, each in cast("dict[str, Any]", value).items():
            place = f"{pointer}/{escape(key)}"
            if looks_secret(key) and not isinstance(each, bool) and literal(each) not in (MISSING, None, "", [], {}):
                yield place, key
            else:
                yield from _secrets(each, place)
    elif isinstance(value, list):
        for index, each in enumerate(cast("list[Any]", value)):
            yield from _secrets(each, f"{pointer}/{index}")
