"""Addresses with `{param}`, filled with values that can't change what the rest of the address means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from msgspec import Raw

from plait.kernel import values
from plait.kernel.task import TaskError

_PARAM = re.compile(r"\{([^{}]*)\}")
_MISLEADING = ("", ".", "..")
"""As a path segment, these would change which place the address names."""


def address_of(template: str, params: Raw) -> str:
    if "{" not in template:
        return template
    given = values.decode(params)
    path, mark, query = template.partition("?")
    return "/".join(_part(each, given) for each in path.split("/")) + mark + _filled(query, given)


def _part(template: str, given: Mapping[str, Any]) -> str:
    part = _filled(template, given)
    if part != template and part in _MISLEADING:
        raise _unusable(template, f"gives '{part}' in the path")
    return part


def _filled(template: str, given: Mapping[str, Any]) -> str:
    return _PARAM.sub(lambda found: _escaped(found[1], given), template)


def _escaped(name: str, given: Mapping[str, Any]) -> str:
    value = given.get(name)
    if value is None:
        raise _unusable(f"{{{name}}}", "has no value")
    return quote(value if isinstance(value, str) else values.plain(value).decode(), safe="")


def _unusable(what: str, why: str) -> TaskError:
    return TaskError(f"step call failed: {what} in its address {why}", retryable=False)
