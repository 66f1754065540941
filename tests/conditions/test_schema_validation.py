"""Conditions of the type `schema_validation`."""

from __future__ import annotations

from typing import Any

import pytest

from plait import conditions
from plait.kernel import values
from tests.conditions.judging import failure, flaws, truth

SCHEMA = {
    "type": "object",
    "required": ["status", "data"],
    "properties": {"status": {"const": "success"}, "data": {"type": "array", "minItems": 1}},
}
REF = "cas://sha256:schema123"


def fits(schema: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "schema_validation", "schema": schema} | fields


def test_the_output_is_validated():
    assert truth(fits(SCHEMA), {"status": "success", "data": [1]}) is True
    assert truth(fits(SCHEMA), {"status": "success", "data": []}) is False
    assert truth(fits(SCHEMA), None) is False
    assert truth(fits(True), None) is True
    assert truth(fits(False), None) is False


def test_invert_turns_the_verdict_but_no_error():
    assert truth(fits(SCHEMA, invert=True), {"status": "success", "data": []}) is True
    assert truth(fits(SCHEMA, invert=True), {"status": "success", "data": [1]}) is False
    assert failure(fits({"items": {"type": "integer"}}, invert=True), [1] * 100_000) == "budget"


def test_a_reference_is_loaded_before_and_kept_in_the_compiled_form():
    condition = {"type": "schema_validation", "schema_ref": REF}
    assert conditions.references({"type": "composite", "operator": "NOT", "conditions": [condition]}) == {REF}
    compiled = conditions.compile(condition, blobs={REF: b'{"type": "integer"}'})
    assert compiled.evaluate(5).value is True
    assert compiled.evaluate("5").value is False
    again = conditions.compile(values.decode(compiled.source))
    assert again.evaluate(5).value is True


def test_a_reference_that_is_not_stored_is_refused():
    (flaw,) = flaws({"type": "schema_validation", "schema_ref": REF}, "/at")
    assert flaw.code == "condition.ref_missing"
    assert flaw.pointer == "/at/schema_ref"
    assert flaw.message == f"condition: schema_ref {REF} is not stored; upload it"


@pytest.mark.parametrize("blob", [b"{", b"\xff", b'{"type": "nonsense"}', b"5"])
def test_a_stored_text_that_is_no_schema_is_refused_where_it_is_named(blob: bytes):
    (flaw,) = flaws({"type": "schema_validation", "schema_ref": REF}, "/at", blobs={REF: blob})
    assert flaw.pointer == "/at/schema_ref"


def test_draft_07_is_used_if_the_schema_says_so():
    old = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}]}
    assert truth(fits(old), ["x"]) is False
    new = {"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{"type": "integer"}]}
    assert truth(fits(new), ["x"]) is False


def test_format_does_not_assert():
    for draft in ("http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"):
        assert truth(fits({"$schema": draft, "format": "email"}), "no address") is True


@pytest.mark.parametrize(
    "reference", ["https://example.com/schema.json", "other.json", "file:///etc/passwd", "#/$defs/gone"]
)
def test_nothing_outside_the_document_is_fetched(reference: str):
    (flaw,) = flaws(fits({"$ref": reference}))
    assert flaw.code == "condition.syntax"
    assert "leads out of the schema" in flaw.message


def test_references_inside_the_document_work():
    tree = {
        "$id": "https://example.com/tree",
        "$defs": {
            "node": {
                "$anchor": "node",
                "type": "object",
                "properties": {"children": {"type": "array", "items": {"$ref": "#node"}}, "n": {"$ref": "number"}},
                "required": ["n"],
            },
            "number": {"$id": "number", "type": "integer"},
            "a/b c": {"type": "object"},
        },
        "$ref": "#/$defs/node",
        "allOf": [{"$ref": "#/$defs/a~1b%20c"}, {"$ref": "https://example.com/tree#/$defs/node"}],
    }
    assert truth(fits(tree), {"n": 1, "children": [{"n": 2, "children": []}]}) is True
    assert truth(fits(tree), {"n": 1, "children": [{"n": "2"}]}) is False
    dynamic = {"$dynamicAnchor": "t", "properties": {"child": {"$dynamicRef": "#t"}}, "required": ["n"]}
    assert truth(fits(dynamic), {"n": 1, "child": {"n": 2}}) is True
    assert truth(fits(dynamic), {"n": 1, "child": {}}) is False


def test_patterns_are_matched_in_linear_time():
    assert truth(fits({"pattern": "^(a+)+$"}), "a" * 40 + "b") is False
    (flaw,) = flaws(fits({"pattern": "(?=a)b"}))
    assert "no regular expression" in flaw.message
    (flaw,) = flaws(fits({"patternProperties": {"a" * 1001: True}}))
    assert "1,000 are allowed" in flaw.message


def test_a_schema_has_a_size():
    (flaw,) = flaws(fits({"enum": ["x" * 300_000]}))
    assert flaw.code == "condition.too_big"


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ({"type": "schema_validation"}, "exactly one of `schema` and `schema_ref` is needed"),
        (fits({}, schema_ref=REF), "exactly one of `schema` and `schema_ref` is needed"),
        (fits(5), "`schema` must be an object"),
        (fits({"type": "nonsense"}), "this is not a JSON Schema"),
        (fits({}, invert="yes"), "`invert` must be true or false"),
        ({"type": "schema_validation", "schema_ref": 5}, "`schema_ref` must be a string"),
    ],
)
def test_what_can_not_be_used_is_refused(condition: Any, message: str):
    (flaw,) = flaws(condition)
    assert message in flaw.message
