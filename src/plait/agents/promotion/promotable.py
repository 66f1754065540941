"""Which pipelines may become tools, and the names and parameters of those tools. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final, cast
from urllib.parse import parse_qsl, urlsplit

from plait.agents.tools.names import PROMOTED
from plait.definitions.hashing import canonical

Steps = Sequence[Mapping[str, Any]]

MOST_BYTES: Final = 16 * 1024
"""Bytes of a pipeline: one that contains a whole table is data, not a tool."""
_SECRET: Final = re.compile(r"secret|token|passw|key|credential|authoriz", re.IGNORECASE)
_REFERENCES: Final = ("cas://", "artifact://")
_TYPES: Final[tuple[tuple[type[Any], str], ...]] = (
    (str, "string"),
    (bool, "boolean"),
    (int, "number"),
    (float, "number"),
    (list, "array"),
    (dict, "object"),
)
_SHORTEST: Final = 6
"""Characters of the hash used in a name, at least."""


def is_promotable(steps: Steps) -> bool:
    """Pipelines that may contain a secret or that name values of one run are not: every agent of the namespace may call
    the tool."""
    if len(canonical(list(steps))) > MOST_BYTES:
        return False
    requests = [step for step in steps if step.get("step") == "http_request"]
    if any(step.get("headers") or _has_secrets(step) for step in requests):
        return False
    tables = (step.get(side) for step in steps for side in ("left", "right"))
    return not any(isinstance(table, str) and table.startswith(_REFERENCES) for table in tables)


def name_of(steps: Steps, digest: str, taken: Mapping[str, Any]) -> str:
    """`pipe_<first>_<last>_<hash6>`; more of the hash if another pipeline has that name."""
    start = f"{PROMOTED}{steps[0]['step']}_{steps[-1]['step']}_"
    lengths = range(_SHORTEST, len(digest) + 1)
    return next(name for length in lengths if (name := f"{start}{digest[:length]}") not in taken)


def description_of(steps: Steps) -> str:
    return f"A pipeline that was used before: {', '.join(str(step['step']) for step in steps)}."


def parameters_of(steps: Steps) -> dict[str, Any]:
    """The `params` of its requests, by name; a repeated name gets the number of its step."""
    properties = {name: _property(steps[at]["params"][key]) for name, at, key in _places(steps)}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def filled(steps: Steps, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The pipeline with the arguments of a call in place of the original values."""
    made = [deepcopy(dict(step)) for step in steps]
    for name, at, key in _places(steps):
        if name in arguments:
            made[at]["params"][key] = arguments[name]
    return made


def _places(steps: Steps) -> Iterator[tuple[str, int, str]]:
    """Each parameter: its name, the step's index, and its name in that step."""
    seen: set[str] = set()
    for at, step in enumerate(steps):
        params: dict[str, Any] = step.get("params") or {} if step.get("step") == "http_request" else {}
        for key in params:
            name = key if key not in seen else f"{key}_{at + 1}"
            seen.add(name)
            yield name, at, key


def _property(literal: Any) -> dict[str, Any]:
    kind = next((name for type, name in _TYPES if isinstance(literal, type)), None)
    return {"default": literal} if kind is None else {"type": kind, "default": literal}


def _has_secrets(step: Mapping[str, Any]) -> bool:
    url = str(step.get("url", ""))
    try:
        parts = urlsplit(url if "://" in url else f"https://{url}")
        named = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
        inside = "@" in parts.netloc
    except ValueError:
        return True
    return inside or any(_SECRET.search(name) for name in (*named, *_names(step.get("params"))))


def _names(value: Any) -> Iterator[str]:
    """Names of fields, at any depth."""
    if isinstance(value, dict):
        for name, each in cast("dict[str, Any]", value).items():
            yield name
            yield from _names(each)
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _names(each)
