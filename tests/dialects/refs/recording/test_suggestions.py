from __future__ import annotations

from typing import Any

import pytest

from plait.dialects.refs.recording.suggestions import Suggestion

from .sessions import Session, codes


def only(session: Session, step: str) -> Suggestion:
    (found,) = [each for each in session.draft().suggestions if each.step == step]
    return found


def suggested(literal: Any, output: Any, *, key: str = "x", tool: str = "GET_THING") -> Suggestion:
    """For a literal at `key`, after a step that gave `output`."""
    session = Session()
    session.read(tool, output=output)
    session.call("USE", {key: literal})
    return only(session, "use_1")


def test_a_literal_is_traced_to_the_step_it_came_from() -> None:
    session = Session({"user_id": 7})
    session.read("GET_USER", {"id": "@input.user_id"}, {"id": 42, "name": "Ann"})
    session.read("GET_ORDERS", {"userId": 42}, [])
    found = only(session, "get_orders_1")
    assert (found.ref, found.kind, found.pointer, found.value) == ("@get_user_1.id", "match", "/userId", 42)
    assert found.confidence == 90
    assert found.why == "equal to a value of get_user_1, named alike"


@pytest.mark.parametrize(
    ("literal", "confidence"),
    [
        ({"a": True}, 90),
        ([1, 2], 90),
        ("12345678", 85),
        ("1234567", 60),
        ("abc", 60),
        (10, 65),
        (-12, 65),
        (0.5, 65),
        (9, 30),
        (2, 30),
    ],
)
def test_confidence_grows_with_what_a_value_says(literal: Any, confidence: int) -> None:
    assert suggested(literal, {"y": literal}).confidence == confidence


@pytest.mark.parametrize("literal", [None, True, False, "", "ab", [], {}, -1, 0, 1, 0.0, 1.0])
def test_values_that_are_everywhere_are_not_suggested(literal: Any) -> None:
    session = Session({"y": literal})
    session.read("GET", output={"y": literal})
    session.call("USE", {"x": literal})
    assert not session.draft().suggestions


@pytest.mark.parametrize(("seen", "literal"), [("42", 42), (42, "4200"), ({"a": 1}, [{"b": 1}])])
def test_values_of_other_types_are_not_the_same(seen: Any, literal: Any) -> None:
    assert all(each.kind == "input" for each in _suggestions_for(seen, literal))


def _suggestions_for(seen: Any, literal: Any) -> list[Suggestion]:
    session = Session()
    session.read("GET", output={"y": seen})
    session.call("USE", {"x": literal})
    return [each for each in session.draft().suggestions if each.step == "use_1"]


def test_whole_numbers_and_floats_of_the_same_size_are_the_same() -> None:
    assert suggested(42.0, {"y": 42}).ref == "@get_thing_1.y"


@pytest.mark.parametrize(
    ("key", "field", "tool"),
    [("email", "email", "GET"), ("user_email", "email", "GET_USER"), ("E-Mail", "eMail", "GET")],
)
def test_a_name_that_fits_makes_it_surer(key: str, field: str, tool: str) -> None:
    assert suggested("ann@example.org", {field: "ann@example.org"}, key=key, tool=tool).confidence == 99


def test_several_sources_make_it_less_sure_and_the_others_are_alternatives() -> None:
    session = Session({"city": "Lisbon"})
    session.read("GET_A", output={"place": "Lisbon"})
    session.read("GET_B", output={"place": "Lisbon"})
    session.call("USE", {"x": "Lisbon"})
    found = only(session, "use_1")
    assert (found.ref, found.confidence) == ("@get_b_1.place", 50)
    assert [each.ref for each in found.alternatives] == ["@get_a_1.place", "@input.city", "@input.x"]


def test_a_source_named_alike_comes_before_a_later_one() -> None:
    session = Session({"city": "Lisbon"})
    session.read("GET_B", output={"place": "Lisbon"})
    session.call("USE", {"city": "Lisbon"})
    found = only(session, "use_1")
    assert (found.ref, found.confidence) == ("@input.city", 75)


def test_the_largest_part_that_matches_is_suggested() -> None:
    found = suggested({"street": "Rua Augusta", "number": 12}, {"address": {"street": "Rua Augusta", "number": 12}})
    assert (found.pointer, found.ref) == ("/x", "@get_thing_1.address")


def test_only_steps_that_had_ended_are_sources() -> None:
    session = Session()
    session.read("GET", output={"y": "Rua Augusta"}, began=1, ended=5)
    session.call("USE", {"x": "Rua Augusta"}, began=2, ended=3)
    assert only(session, "use_1").kind == "input"


def test_a_text_within_another_is_found_at_the_borders_of_words() -> None:
    session = Session({"customer": "Anneliese"})
    session.call("SEND", {"text": "Dear Anneliese, hello"})
    found = only(session, "send_1")
    assert (found.kind, found.ref, found.value, found.start) == ("text", "@{input.customer}", "Anneliese", 5)
    assert found.confidence == 50
    (step,) = session.draft(accept=[found.id]).definition["steps"]
    assert step["input"] == {"text": "Dear @{input.customer}, hello"}


@pytest.mark.parametrize("text", ["AnnelieseX", "x_Anneliese", "mail@Anneliese"])
def test_parts_of_words_are_not_found(text: str) -> None:
    session = Session({"customer": "Anneliese"})
    session.call("SEND", {"text": text})
    assert only(session, "send_1").kind == "input"


def test_text_beside_an_accepted_reference_stays_text() -> None:
    session = Session({"city": "Lisbon"})
    session.call("SEND", {"to": "Lisbon@input.com"})
    found = only(session, "send_1")
    (step,) = session.draft(accept=[found.id]).definition["steps"]
    assert step["input"] == {"to": "@{input.city}@@input.com"}


def test_an_unmatched_literal_could_be_a_parameter() -> None:
    session = Session()
    session.call(
        "FIND", {"city": "Porto", "tags": ["red", "green"], "again": {"city": "Porto"}, "other": {"city": "Faro"}}
    )
    found = session.draft().suggestions
    assert [(each.pointer, each.ref, each.confidence) for each in found] == [
        ("/city", "@input.city", 20),
        ("/tags", "@input.tags", 20),
        ("/again/city", "@input.city", 20),
        ("/other/city", "@input.city_2", 20),
    ]


def test_escaped_text_is_compared_as_what_it_stands_for() -> None:
    session = Session({"handle": "@octocat"})
    session.call("FIND", {"user": "@@octocat"})
    assert only(session, "find_1").ref == "@input.handle"


def test_keys_that_a_plain_reference_cannot_name_are_quoted() -> None:
    assert suggested("Rua Augusta", {"2nd line": ["Rua Augusta"]}).ref == '@{get_thing_1["2nd line"][0]}'


# -- accepting ---------------------------------------------------------------------------------------------------------


def test_nothing_is_applied_unless_it_is_accepted() -> None:
    session = Session({"city": "Lisbon it is"})
    session.call("FIND", {"city": "Lisbon it is"})
    assert session.draft().definition["steps"][0]["input"] == {"city": "Lisbon it is"}
    assert session.draft(accept="high").definition["steps"][0]["input"] == {"city": "@input.city"}


def test_an_alternative_is_accepted_by_its_own_id() -> None:
    session = Session({"city": "Lisbon it is"})
    session.call("FIND", {"city": "Lisbon it is"})
    (found,) = session.draft().suggestions
    (other,) = found.alternatives
    assert other.ref == "@input.city"
    assert other.kind == "input"
    assert session.draft(accept=[other.id]).problems == []


def test_ids_stay_the_same_from_draft_to_draft() -> None:
    session = Session({"city": "Lisbon it is"})
    session.call("FIND", {"city": "Lisbon it is"})
    before = session.draft().suggestions[0].id
    session.call("FIND", {"city": "elsewhere"})
    assert session.draft(rename={"find_1": "first"}).suggestions[0].id == before


def test_suggestions_for_the_same_place_cannot_both_be_accepted() -> None:
    session = Session({"account": {"name": "Annika", "token": "t0k3n-very-long"}})
    session.call("FIND", {"account": {"name": "Annika", "token": "t0k3n-very-long"}})
    whole, secret = session.draft().suggestions
    found = session.draft(accept=[whole.id, secret.id])
    assert codes(found) == [("suggestions_overlap", "/options/accept/1")]
    assert "/account of step find_1" in found.problems[0].message


def test_an_unknown_suggestion_is_named() -> None:
    session = Session()
    session.call("FIND", {"city": "Porto"})
    assert codes(session.draft(accept=["feed"])) == [("unknown_suggestion", "/options/accept/0")]


# -- secrets -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["password", "apiKey", "api_key", "access_token", "client-secret"])
def test_a_secret_is_always_offered_as_a_parameter_and_told_if_it_stays(key: str) -> None:
    session = Session()
    session.call("LOGIN", {key: "hunter2"})
    found = session.draft()
    (offered,) = found.suggestions
    assert (offered.kind, offered.value) == ("secret", None)
    assert codes(found) == [("secret_literal", f"/steps/0/input/{key}")]
    accepted = session.draft(accept=[offered.id])
    assert not accepted.problems
    assert "hunter2" not in str(accepted.definition)
    assert accepted.input_schema["required"] == [key]


@pytest.mark.parametrize("key", ["max_tokens", "next_page_token", "name"])
def test_other_names_are_no_secrets(key: str) -> None:
    session = Session()
    session.call("ASK", {key: 4096})
    assert [each.kind for each in session.draft().suggestions] == ["input"]
