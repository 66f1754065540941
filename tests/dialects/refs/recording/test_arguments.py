from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.dialects.refs.recording.arguments import Known, missing_refs, read_arguments
from plait.dialects.refs.references.resolve import Scope, resolve

SCOPE = Scope(
    input={"user": "u1"},
    outputs={"get_user_1": {"id": 42, "name": "Ann", "tags": ["a"]}, "ping_1": None},
    ctx={"execution_id": "rec-1", "workflow_collection_id": None, "parent_execution_id": None, "depth": 0},
)
KNOWN = Known(SCOPE, running=("get_order_1",), failed={"charge_1": "card declined"})


def forwarded(arguments: Any) -> Any:
    found = read_arguments(arguments, KNOWN)
    assert not found.flaws
    return resolve(found.stored, SCOPE).value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("@get_user_1.id", 42),
        ("@get_user_1.tags[0]", "a"),
        ("Dear @get_user_1.name,", "Dear Ann,"),
        ("v@{get_user_1.id}", "v42"),
        ("@input.user", "u1"),
        ("@ping_1.anything", None),
        ("@ctx.execution_id", "rec-1"),
    ],
)
def test_a_reference_is_stored_as_it_is_and_forwarded_resolved(text: str, value: Any) -> None:
    assert read_arguments({"x": text}, KNOWN).stored == {"x": text}
    assert forwarded({"x": text}) == {"x": value}


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("@octocat", "@@octocat"),
        ("cc @octocat and @hubot", "cc @@octocat and @@hubot"),
        ("cc @@octocat", "cc @@@octocat"),
        ("ann@input.com", "ann@input.com"),
        ("ann@example.org @get_user_1.name", "ann@example.org @get_user_1.name"),
        ("@@ -1,3 +1,4 @@", "@@ -1,3 +1,4 @@"),
        ("@", "@"),
    ],
)
def test_text_that_only_looks_like_a_reference_is_forwarded_as_it_is(text: str, stored: str) -> None:
    assert read_arguments(text, KNOWN).stored == stored
    assert forwarded(text) == text.replace("@get_user_1.name", "Ann")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("@@input.user", "@input.user"),
        ("see @@get_user_1.name", "see @get_user_1.name"),
        ("@@nope.y", "@nope.y"),
        ("see @@nope_1", "see @nope_1"),
        ("@@octocat", "@octocat"),
        ("@@{x y}", "@{x y}"),
    ],
)
def test_two_marks_keep_a_reference_from_being_one(text: str, value: str) -> None:
    assert forwarded(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "@get_user_1.email",
        "Dear @get_user_1.email",
        "@get_usr_1",
        "@nope.y",
        "see @nope.y",
        "@charge_1.id",
        "@input.missing",
        "@item",
        "@index",
        "@ctx.secrets",
        "@{octocat}",
        "@{not a ref}",
        "@input" + ".a" * 33,
    ],
)
def test_a_reference_that_leads_nowhere_is_refused_with_its_place(text: str) -> None:
    (flaw,) = read_arguments({"list": [{"x": text}]}, KNOWN).flaws
    assert flaw.code == "bad_ref"
    assert flaw.pointer == "/list/0/x"


def test_a_refusal_lists_what_could_be_meant_and_how_to_write_text() -> None:
    (flaw,) = read_arguments("@get_usr_1.id", KNOWN).flaws
    assert flaw.message == (
        '"@get_usr_1.id" names no step. Valid: @get_order_1, @ping_1, @get_user_1 (.id, .name, .tags), @input (.user), '
        '@ctx.execution_id|workflow_collection_id|parent_execution_id|depth. For text write "@@get_usr_1.id".'
    )


def test_all_that_is_wrong_is_said_at_once() -> None:
    flaws = read_arguments({"a": "@x.y", "b": ["@charge_1"]}, KNOWN).flaws
    assert [flaw.pointer for flaw in flaws] == ["/a", "/b/0"]
    assert "card declined" in flaws[1].message


def test_a_call_under_way_is_waited_for_once() -> None:
    found = read_arguments({"a": "@get_order_1.id", "b": "total @get_order_1.sum"}, KNOWN)
    assert found.waits_for == ("get_order_1",)
    assert not found.flaws


def test_what_a_result_turns_out_not_to_have_is_found_after_the_wait() -> None:
    stored = read_arguments({"a": "@get_order_1.id"}, KNOWN).stored
    assert not missing_refs(stored, Scope(outputs={"get_order_1": {"id": 1}}))
    (flaw,) = missing_refs(stored, Scope(outputs={"get_order_1": {"no": 1}}))
    assert (flaw.code, flaw.pointer) == ("bad_ref", "/a")


_texts = st.lists(
    st.sampled_from(
        ["@", "@@", "{", "}", "input", "octocat", "get_user_1", ".id", ".", " ", "a", "1", "-", "_", "[0]"]
    ),
    max_size=9,
).map("".join)


@given(_texts)
def test_what_is_stored_replays_to_what_was_forwarded_whatever_names_steps_get_later(text: str) -> None:
    found = read_arguments(text, KNOWN)
    if found.flaws or found.waits_for:
        return
    before = resolve(found.stored, SCOPE).value
    more = Scope(SCOPE.input, {**SCOPE.outputs, "octocat": "!", "a": "!", "inputa": "!", "_": "!"}, ctx=SCOPE.ctx)
    assert resolve(found.stored, more).value == before


@given(_texts)
def test_text_without_references_is_forwarded_unchanged(text: str) -> None:
    known = Known(Scope(input=None), ())
    if "@@" in text or read_arguments(text, known).flaws or "@input" in text or "@{" in text:
        return
    assert resolve(read_arguments(text, known).stored, known.scope).value == text
