"""JSON Schema: what fits, what does not and where, and what is no schema at all."""

from typing import Any

import pytest

from plait.conditions import schema
from plait.errors import InvalidInput, TooLarge
from plait.kernel import values

ORDER = values.encode(
    {
        "type": "object",
        "properties": {"count": {"type": "integer"}, "a/b": {"type": "array", "items": {"type": "string"}}},
        "required": ["count"],
    }
)


def test_a_value_that_fits_has_no_misfits():
    assert schema.misfits(ORDER, {"count": 1, "a/b": ["x"]}) == []


def test_every_misfit_says_where_and_why():
    found = schema.misfits(ORDER, {"a/b": ["x", 2]})
    assert {misfit.pointer for misfit in found} == {"", "/a~1b/1"}
    assert any("count" in misfit.message for misfit in found)


@pytest.mark.parametrize(
    "document", [{"type": "foo"}, {"$ref": "#/nope"}, {"pattern": "("}, 3, "x", {"properties": []}], ids=repr
)
def test_what_is_no_schema_is_refused(document: Any):
    with pytest.raises(InvalidInput) as caught:
        schema.compiled(values.encode(document))
    assert caught.value.code == "schema.invalid"


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/x", "file:///etc/passwd", "other.json"])
def test_nothing_is_fetched(address: str):
    with pytest.raises(InvalidInput, match=r"nothing is fetched|not present"):
        schema.compiled(values.encode({"$ref": address}))


def test_a_schema_has_a_limit():
    with pytest.raises(TooLarge):
        schema.compiled(values.encode({"description": "x" * schema.MAX_BYTES}))


def test_a_hostile_pattern_does_not_hold_us_up():
    assert schema.misfits(values.encode({"pattern": "^(a+)+$"}), "a" * 5_000 + "b")
