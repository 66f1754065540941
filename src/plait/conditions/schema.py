"""JSON Schema, draft 2020-12 or 07: whether a value is valid, and if not, where and why.

A schema never causes a fetch: `$ref` works only inside the document.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn, cast

import msgspec
from msgspec import Raw

from plait.extras import extra
from plait.kernel import values
from plait.kernel.errors import InvalidInput, TooLarge

if TYPE_CHECKING:
    import jsonschema_rs

    Validator = jsonschema_rs.Draft202012Validator | jsonschema_rs.Draft7Validator

MAX_BYTES = 256 * 1024
_DRAFT_07 = "json-schema.org/draft-07/"


class Misfit(msgspec.Struct, frozen=True):
    """One violation of a schema by a value."""

    pointer: str
    message: str


def misfits(schema: Raw, value: Any) -> list[Misfit]:
    """All violations, in document order; empty if the value is valid."""
    return [Misfit(_pointer(error.instance_path), error.message) for error in compiled(schema).iter_errors(value)]


def compiled(schema: Raw) -> Validator:
    """Checks the schema itself; refuses one that is invalid, too large, or refers to another document."""
    return _compiled(bytes(schema))


@lru_cache(1024)
def _compiled(text: bytes) -> Validator:
    if len(text) > MAX_BYTES:
        raise TooLarge("schema.too_large", f"the schema has {len(text):,} bytes", why=f"the limit is {MAX_BYTES:,}")
    try:
        return validator(values.decode(Raw(text)))
    except ValueError as error:
        raise InvalidInput("schema.invalid", "this is not a JSON Schema", why=str(error).partition("\n")[0]) from None


def validator(document: Any, *, linear: bool = False) -> Validator:
    """A validator of draft 2020-12, or of 07 if the schema says so. `linear`: its patterns are matched in linear time.

    Raises a `ValueError` if the schema is invalid or refers to another document. `format` is not asserted.
    """
    with extra("scripts", "JSON Schema"):
        import jsonschema_rs
    fields = cast("dict[str, Any]", document if isinstance(document, dict) else {})
    made = (
        jsonschema_rs.Draft7Validator if _DRAFT_07 in str(fields.get("$schema")) else jsonschema_rs.Draft202012Validator
    )
    options = jsonschema_rs.RegexOptions() if linear else None
    return made(cast("Any", document), retriever=_refuse, validate_formats=False, pattern_options=options)


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"{uri} is outside the schema, and nothing is fetched")


def _pointer(path: list[str | int]) -> str:
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)
