"""Names of fields that probably hold secrets: their values are kept out of templates and examples."""

from __future__ import annotations

import re
from typing import Any, Final, cast

_SECRETS: Final = ("password", "passwd", "passphrase", "secret", "token", "apikey", "privatekey", "credential")
_NOT_SECRET: Final = re.compile(r"(max|min|num|count|total|input|output|used|next|prompt|completion)tokens?|nextpage.*")
_OTHER: Final = re.compile(r"[^a-z0-9]")


def looks_secret(name: str) -> bool:
    plain = _OTHER.sub("", name.lower())
    return any(word in plain for word in _SECRETS) and not _NOT_SECRET.fullmatch(plain)


def holds_secret(value: Any) -> bool:
    """Whether the value contains a field with such a name, at any depth."""
    if isinstance(value, dict):
        return any(looks_secret(key) or holds_secret(each) for key, each in cast("dict[str, Any]", value).items())
    return isinstance(value, list) and any(map(holds_secret, cast("list[Any]", value)))
