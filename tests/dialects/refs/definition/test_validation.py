"""Every flaw of a definition at once, each with its code and its place: section 2 of the spec."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plait.definitions.flaws import InvalidDefinition
from plait.dialects.refs.definition.compile import compile_refs
from plait.dialects.refs.definition.schema import refs_schema
from tests.dialects.refs.player import code, ret, tool

ROOT = Path(__file__).parents[4]


def flaws(definition: Any, *, starting: bool = False) -> list[tuple[str, str, str]]:
    with pytest.raises(InvalidDefinition) as caught:
        compile_refs(definition, starting=starting)
    assert caught.value.code == "invalid_definition"
    return [(flaw.code, flaw.pointer, flaw.message) for flaw in caught.value.flaws]


def of(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"steps": list(steps), **more}


SCHEMA = {"type": "object", "properties": {"email": {}}, "additionalProperties": False}
DEEP: Any = {}
for _ in range(11):
    DEEP = {"type": "object", "properties": {"x": DEEP}}


@pytest.mark.parametrize(
    ("definition", "code", "pointer", "message"),
    [
        (of(tool("my step")), "bad_name", "/steps/0/name", 'Step name "my step" is not valid. Use "my_step".'),
        (of(tool("end-")), "bad_name", "/steps/0/name", 'Step name "end-" is not valid. Use "end".'),
        (of(tool("input")), "reserved_name", "/steps/0/name", 'Step name "input" is reserved. Use "input_step".'),
        (of(tool("a"), tool("a")), "duplicate_name", "/steps/1/name", 'Two steps are named "a". Rename one.'),
        (
            of({"name": "a", "action": {"code": "x", "toolName": "y"}}),
            "bad_action",
            "/steps/0/action",
            'Step "a": the action has `toolName` and `code`. Keep one.',
        ),
        (
            of(tool("v"), tool("a", {"x": ["@nope.y"]})),
            "unknown_ref",
            "/steps/1/input/x/0",
            'Step "a": "@nope.y" names no step. Known: v, a. For text write "@@nope.y".',
        ),
        (of(tool("a", {"x": "v@{nope}"})), "unknown_ref", "/steps/0/input/x", None),
        (of(tool("a", {"x": "@{a b}"})), "unknown_ref", "/steps/0/input/x", None),
        (of(tool("a", dependsOn=["b"])), "unknown_ref", "/steps/0/dependsOn/0", None),
        (of(tool("a", {"x": "@item"})), "scope_ref", "/steps/0/input/x", '"@item" needs `forEach` on step "a".'),
        (of(tool("a", {"x": "@ctx.nope"})), "scope_ref", "/steps/0/input/x", None),
        (
            of(tool("a", {"x": "@input.emial"}), input_schema=SCHEMA),
            "path_ref",
            "/steps/0/input/x",
            '"@input.emial": no such field. Did you mean "email"?',
        ),
        (of(tool("a", outputSchema=SCHEMA), tool("b", {"x": "@a.q"})), "path_ref", "/steps/1/input/x", None),
        (
            of(tool("a", {"x": "@b"}), tool("b", {"x": "@a"})),
            "cycle",
            "/steps/0",
            "Circular dependency: a -> b -> a. Remove one ref.",
        ),
        (of(tool("a", {"x": "@a"})), "cycle", "/steps/0", "Circular dependency: a -> a. Remove one ref."),
        (
            of(tool("s", when={"ref": "@input.x", "eq": 1, "gt": 2})),
            "bad_condition",
            "/steps/0/when",
            'Step "s": use `eq` or `gt`, not both.',
        ),
        (of(tool("s", when={"ref": "input.x"})), "bad_condition", "/steps/0/when/ref", None),
        (of(tool("s", when={"ref": "@input.x", "gt": "1"})), "bad_condition", "/steps/0/when/gt", None),
        (
            of(tool("s", forEach={"ref": "@input.x", "concurrency": 101})),
            "bad_foreach",
            "/steps/0/forEach/concurrency",
            None,
        ),
        (
            of(ret("r", forEach={"ref": "@input.x"})),
            "bad_return",
            "/steps/0/forEach",
            'Step "r": `return` can\'t have `forEach`. Remove it.',
        ),
        (of(tool("a"), presets={"b": 1}), "bad_preset", "/presets/b", None),
        (of(tool("a"), input_schema={"type": "wat"}), "bad_schema", "/input_schema", None),
        (of(tool("a"), input_schema=DEEP), "too_large", "/input_schema", "Input schema is deeper than 10."),
        (of(*(tool(f"s{n}") for n in range(501))), "too_large", "/steps", None),
        (of(code("a", {"x": "@input" + ".a" * 33})), "too_large", "/steps/0/input/x", None),
        (
            of({**tool("a"), "whn": {}}),
            "bad_shape",
            "/steps/0/whn",
            'Step "a": unknown field `whn`; did you mean `when`?',
        ),
    ],
)
def test_a_flaw_has_a_code_a_place_and_a_message(definition: Any, code: str, pointer: str, message: str | None) -> None:
    found = flaws(definition)
    assert found[0][:2] == (code, pointer)
    assert message is None or found[0][2] == message


def test_all_flaws_are_told_at_once() -> None:
    found = flaws(of(tool("my step"), tool("b", {"x": "@nope"}), presets={"c": 1}))
    assert [code for code, _, _ in found] == ["bad_name", "unknown_ref", "bad_preset"]


def test_no_steps_may_be_saved_but_not_started() -> None:
    compile_refs({"steps": []})
    assert flaws({"steps": []}, starting=True) == [("no_steps", "/steps", "Workflow has no steps. Add at least one.")]
    compile_refs({"mode": "recording"}, starting=True)


@pytest.mark.parametrize("anything", [None, 3, [], "x", {"steps": 3}, {"steps": [3]}, {"steps": [{}]}])
def test_anything_is_answered_with_flaws(anything: Any) -> None:
    assert flaws(anything)


def test_null_in_an_optional_field_means_absent() -> None:
    step = {**tool("a"), "when": None, "bail": None, "forEach": None, "config": None, "outputSchema": None}
    compile_refs({"steps": [step], "title": None, "presets": None})


def test_presets_are_not_hashed() -> None:
    assert compile_refs(of(tool("a"))).plan.hash == compile_refs(of(tool("a"), presets={"a": 1})).plan.hash


def test_warnings_never_block() -> None:
    found = compile_refs(
        of(
            tool("a", {"x": "hi @bob", "y": "@input.other"}, when={"ref": "@input.email", "eq": "@x"}),
            input_schema={"properties": {"email": {"pattern": "(a+)+$"}}},
        )
    ).warnings
    assert sorted(note.code for note in found) == ["bad_condition", "bad_schema", "path_ref", "unknown_ref"]


def test_the_published_schema_is_that_of_the_language() -> None:
    assert json.loads((ROOT / "docs/refs.schema.json").read_text()) == refs_schema()
