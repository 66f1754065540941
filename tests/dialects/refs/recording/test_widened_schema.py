from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.dialects.refs.recording.widened_schema import widened

REF = {"type": "string", "pattern": "@"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _takes(schema: Any, value: Any) -> bool:
    return jsonschema_rs.is_valid(widened(schema), value)


def test_a_number_may_be_a_reference() -> None:
    found = widened(_object(id={"type": "integer", "description": "Of the user"}))
    assert found == _object(id={"description": "Of the user", "anyOf": [{"type": "integer"}, REF]})


def test_a_schema_that_takes_any_string_stays() -> None:
    schema = _object(name={"type": "string"}, anything={}, either={"type": ["string", "null"]}, yes=True)
    assert widened(schema) == schema


@pytest.mark.parametrize(
    "narrow",
    [
        {"type": "string", "format": "date"},
        {"type": "string", "maxLength": 2},
        {"enum": ["a", "b"]},
        {"const": 1},
        {"not": {"type": "string"}},
        {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        {"oneOf": [{"type": "string"}, {"type": "string", "maxLength": 50}]},
        {"allOf": [{"type": "string"}, {"maxLength": 2}]},
        {"type": "array", "items": {"type": "integer"}},
        _object(deep={"type": "boolean"}),
    ],
)
def test_whatever_refuses_a_reference_takes_it_then(narrow: Any) -> None:
    assert _takes(_object(value=narrow), {"value": "@get_user_1.id"})


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (_object(ids={"type": "array", "items": {"type": "integer"}}), {"ids": [1, "@a.id"]}),
        (_object(pair={"type": "array", "prefixItems": [{"type": "integer"}]}), {"pair": ["@a.id"]}),
        (_object(user=_object(id={"type": "integer"})), {"user": {"id": "@a.id"}}),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"any": "@a.id"}),
        (_object(x={"oneOf": [_object(n={"type": "integer"}), _object(n={"type": "string"})]}), {"x": {"n": "@a"}}),
        (
            {"type": "object", "properties": {"u": {"$ref": "#/$defs/U"}}, "$defs": {"U": _object(n={"const": 1})}},
            {"u": {"n": "@a"}},
        ),
        (_object(a=_object(n={"type": "integer"}), b={"$ref": "#/properties/a"}), {"b": {"n": "@a"}}),
        (_object(n={"type": "integer"}, again={"$ref": "#"}), {"again": {"again": "@a", "n": "@b"}}),
    ],
)
def test_references_may_stand_at_any_depth(schema: Any, value: Any) -> None:
    assert _takes(schema, value)


def test_a_pointer_into_what_is_widened_still_finds_it() -> None:
    schema = _object(a=_object(n={"type": "integer"}), b={"$ref": "#/properties/a/properties/n"})
    assert _takes(schema, {"a": {"n": 1}, "b": 2})
    assert _takes(schema, {"a": {"n": 1}, "b": "@a.n"})
    assert not _takes(schema, {"b": True})


def test_arguments_stay_an_object_with_what_is_required() -> None:
    schema = {**_object(id={"type": "integer"}), "required": ["id"], "additionalProperties": False}
    assert not _takes(schema, {})
    assert not _takes(schema, {"id": "@a", "other": 1})
    assert not _takes(schema, "@a")
    assert not _takes(schema, {"id": "seven"})


def test_a_schema_that_refers_to_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/properties/head"}, "n": {"type": "integer"}}}
    assert _takes(_object(head=node), {"head": {"n": "@a", "next": {"n": 1, "next": "@b"}}})


_scalars = st.sampled_from(
    [{"type": "integer"}, {"type": "string"}, {"const": 2}, {"type": "string", "maxLength": 3}, True]
)
_schemas = st.recursive(
    _scalars,
    lambda below: st.one_of(
        st.dictionaries(st.sampled_from("abc"), below, max_size=3).map(lambda found: _object(**found)),
        below.map(lambda found: {"type": "array", "items": found}),
        st.lists(below, min_size=1, max_size=3).map(lambda found: {"anyOf": found}),
        st.lists(below, min_size=1, max_size=3).map(lambda found: {"oneOf": found}),
    ),
    max_leaves=8,
)
_values = st.recursive(
    st.sampled_from([1, 2, "x", "long text", True, None]),
    lambda below: st.lists(below, max_size=2) | st.dictionaries(st.sampled_from("abc"), below, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from("abc"), _schemas), st.dictionaries(st.sampled_from("abc"), _values), st.data())
def test_nothing_that_fits_is_refused_and_any_part_may_be_a_reference(
    properties: dict[str, Any], value: dict[str, Any], data: st.DataObject
) -> None:
    schema = _object(**properties)
    if not jsonschema_rs.is_valid(schema, value):
        return
    assert _takes(schema, value)
    if value:
        assert _takes(schema, value | {data.draw(st.sampled_from(sorted(value))): "@a.b"})
