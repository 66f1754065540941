from __future__ import annotations

from typing import Any

import pytest

from plait.kernel.errors import ErrorInfo

from .sessions import Session, codes, included, reasons


def order_session() -> Session:
    session = Session({"user_id": 7})
    session.read("GET_USER", {"id": "@input.user_id"}, {"id": 7, "email": "ann@example.org"})
    session.call("CREATE_ORDER", {"user": "@get_user_1.id"}, {"number": "o-1"})
    session.call("SEND_MAIL", {"to": "@get_user_1.email"}, {"sent": True})
    return session


def test_a_recording_becomes_steps_with_the_references_it_used() -> None:
    assert order_session().draft(title="Order").definition == {
        "title": "Order",
        "input_schema": {
            "type": "object",
            "properties": {"user_id": {"type": "integer", "examples": [7]}},
            "required": ["user_id"],
        },
        "steps": [
            {"name": "get_user_1", "action": {"toolName": "GET_USER"}, "input": {"id": "@input.user_id"}},
            {"name": "create_order_1", "action": {"toolName": "CREATE_ORDER"}, "input": {"user": "@get_user_1.id"}},
            {
                "name": "send_mail_1",
                "action": {"toolName": "SEND_MAIL"},
                "input": {"to": "@get_user_1.email"},
                "dependsOn": ["create_order_1"],
            },
        ],
    }


# -- which steps -------------------------------------------------------------------------------------------------------


def test_failed_and_exploratory_steps_are_left_out() -> None:
    session = Session()
    session.read("LIST_USERS", output=[1])
    session.call("CHARGE", {}, status="failed", error=ErrorInfo("tool_error", "declined"))
    session.call("CHARGE", {}, {"ok": True})
    session.call("WAIT", {}, status="running", ended=0)
    assert reasons(session.draft()) == {
        "list_users_1": "exploratory",
        "charge_1": "failed",
        "charge_2": "success",
        "wait_1": "running",
    }
    assert included(session.draft(include=["list_users_1"])) == ["list_users_1", "charge_2"]


def test_the_last_success_stays_even_if_it_only_reads() -> None:
    session = Session()
    session.call("CHARGE")
    session.read("GET_BALANCE", output={"left": 5})
    assert included(session.draft()) == ["charge_1", "get_balance_1"]


def test_what_included_steps_refer_to_is_pulled_in() -> None:
    session = Session()
    session.read("LIST", output=["x"])
    session.read("GET", {"id": "@list_1[0]"}, {"id": "x"})
    session.call("CHARGE", {"id": "@get_1.id"})
    assert reasons(session.draft()) == {"list_1": "referenced", "get_1": "referenced", "charge_1": "success"}


def test_reading_the_same_again_is_a_duplicate_and_references_move_to_the_first() -> None:
    session = Session()
    session.read("GET", {"id": 5}, {"name": "Ann"})
    session.read("GET", {"id": 5}, {"name": "Ann"})
    session.call("SEND", {"to": "Dear @get_2.name"})
    found = session.draft()
    assert reasons(found) == {"get_1": "referenced", "get_2": "duplicate", "send_1": "success"}
    assert found.steps[1].duplicate_of == "get_1"
    assert found.definition["steps"][1]["input"] == {"to": "Dear @get_1.name"}
    kept = session.draft(include=["get_2"])
    assert reasons(kept) == {"get_1": "exploratory", "get_2": "included", "send_1": "success"}


def test_reading_again_after_a_change_is_no_duplicate() -> None:
    session = Session()
    session.read("GET_CART", {}, {"total": 1})
    session.call("ADD_ITEM")
    session.read("GET_CART", {}, {"total": 2})
    assert included(session.draft()) == ["add_item_1", "get_cart_2"]


def test_excluding_what_others_need_is_a_problem_with_its_place() -> None:
    found = order_session().draft(exclude=["get_user_1"])
    assert codes(found) == [("ref_to_excluded", "/steps/0/input/user"), ("ref_to_excluded", "/steps/1/input/to")]
    assert found.problems[0].message == (
        'Step "create_order_1" refers to "@get_user_1.id", and "get_user_1" is left out. '
        'Include "get_user_1", or exclude "create_order_1", too.'
    )


def test_excluded_steps_are_no_sources_of_suggestions() -> None:
    session = Session()
    session.read("GET", output={"city": "Lisbon it is"})
    session.call("USE", {"city": "Lisbon it is"})
    assert [each.kind for each in session.draft(exclude=["get_1"]).suggestions] == ["input"]


@pytest.mark.parametrize(
    ("options", "code", "pointer"),
    [
        ({"include": ["get_usr_1"]}, "unknown_step", "/options/include/0"),
        ({"exclude": ["x"]}, "unknown_step", "/options/exclude/0"),
        ({"include": ["get_user_1"], "exclude": ["get_user_1"]}, "include_and_exclude", "/options/include/0"),
        ({"rename": {"nope": "x"}}, "unknown_step", "/options/rename/nope"),
        ({"rename": {"get_user_1": "my step"}}, "bad_name", "/options/rename/get_user_1"),
        ({"rename": {"get_user_1": "input"}}, "reserved_name", "/options/rename/get_user_1"),
        ({"rename": {"get_user_1": "send_mail_1"}}, "duplicate_name", "/options/rename/get_user_1"),
        ({"output": ["@get_user_1"]}, "bad_output", "/options/output"),
    ],
)
def test_options_that_do_not_fit_are_told_with_their_place(options: dict[str, Any], code: str, pointer: str) -> None:
    assert (code, pointer) in codes(order_session().draft(**options))


# -- names -------------------------------------------------------------------------------------------------------------


def test_renaming_rewrites_every_reference() -> None:
    found = order_session().draft(
        rename={"get_user_1": "user", "create_order_1": "order"}, output={"who": "mail to @get_user_1.email"}
    )
    assert [step["name"] for step in found.definition["steps"]] == ["user", "order", "send_mail_1", "result"]
    assert found.definition["steps"][1]["input"] == {"user": "@user.id"}
    assert found.definition["steps"][2]["dependsOn"] == ["order"]
    assert found.definition["steps"][3]["input"] == {"who": "mail to @user.email"}


def test_two_steps_may_swap_their_names() -> None:
    session = Session()
    session.call("A", output=1)
    session.call("B", {"x": "@a_1"})
    found = session.draft(rename={"a_1": "b_1", "b_1": "a_1"})
    assert not found.problems
    assert [(step["name"], step["input"]) for step in found.definition["steps"]] == [
        ("b_1", {}),
        ("a_1", {"x": "@b_1"}),
    ]


# -- order -------------------------------------------------------------------------------------------------------------


def depends(session: Session, **options: Any) -> dict[str, list[str]]:
    return {step["name"]: step.get("dependsOn", []) for step in session.draft(**options).definition["steps"]}


def test_effects_keep_their_order_and_side_by_side_stays_so() -> None:
    session = Session()
    session.call("A", began=1, ended=2)
    session.call("B", began=3, ended=6)
    session.call("C", began=4, ended=5)
    session.call("D", began=7, ended=8)
    assert depends(session) == {"a_1": [], "b_1": ["a_1"], "c_1": ["a_1"], "d_1": ["b_1", "c_1"]}
    assert depends(session, order="data") == {"a_1": [], "b_1": [], "c_1": [], "d_1": []}


def test_an_order_that_references_imply_is_not_said_again() -> None:
    session = Session()
    session.call("A", output={"id": 5})
    session.read("LOOK", {"id": "@a_1.id"}, {"id": 6})
    session.call("B", {"id": "@look_1.id"})
    assert depends(session) == {"a_1": [], "look_1": [], "b_1": []}


def test_steps_that_only_read_wait_for_nothing_but_their_data() -> None:
    session = Session()
    session.call("A")
    session.read("LOOK")
    session.call("B")
    assert depends(session, include=["look_1"]) == {"a_1": [], "look_1": [], "b_1": ["a_1"]}


# -- presets and output ------------------------------------------------------------------------------------------------


def test_a_preset_with_a_tool_is_a_normal_step_and_one_without_is_a_parameter() -> None:
    session = Session()
    session.preset("user", {"id": 7}, tool="GET_USER", input={"id": 7})
    session.preset("prices", {"tea": 3})
    session.call("CHARGE", {"sum": "@prices.tea", "who": "@user.id"})
    found = session.draft()
    assert [step["name"] for step in found.definition["steps"]] == ["user", "charge_1"]
    assert found.definition["steps"][1]["input"] == {"sum": "@input.prices.tea", "who": "@user.id"}
    assert found.input_schema["properties"]["prices"] == {
        "type": "object",
        "properties": {"tea": {"type": "integer", "examples": [3]}},
        "required": ["tea"],
    }
    assert codes(session.draft(include=["prices"])) == [("no_tool", "/options/include/0")]


def test_a_preset_named_like_a_field_of_the_input_does_not_replace_it() -> None:
    session = Session({"prices": "list"})
    session.preset("prices", {"tea": 3})
    session.call("CHARGE", {"sum": "@prices.tea", "from": "@input.prices"})
    assert session.draft().definition["steps"][0]["input"] == {"sum": "@input.prices_2.tea", "from": "@input.prices"}


def test_an_output_becomes_a_return_step_after_everything_else() -> None:
    found = order_session().draft(output={"order": "@create_order_1.number"})
    assert found.definition["steps"][-1] == {
        "name": "result",
        "action": {"return": True},
        "input": {"order": "@create_order_1.number"},
        "dependsOn": ["send_mail_1"],
    }


def test_a_recorded_output_is_the_default_and_one_that_no_template_can_return_is_left_out() -> None:
    session = Session(output="@charge_1.id")
    session.call("CHARGE", output={"id": 1})
    assert session.draft().definition["steps"][-1]["input"] == "@charge_1.id"
    session = Session(output="all done")
    session.call("CHARGE")
    found = session.draft()
    assert [(each.code, each.severity) for each in found.problems] == [("bad_output", "warning")]
    assert len(found.definition["steps"]) == 1


def test_the_return_step_gives_way_to_a_step_of_its_name() -> None:
    found = order_session().draft(rename={"get_user_1": "result"}, output="@get_user_1")
    assert [step["name"] for step in found.definition["steps"]][-1] == "result_2"


# -- input schema ------------------------------------------------------------------------------------------------------


def test_an_input_schema_says_what_was_recorded() -> None:
    session = Session(
        {"user": {"id": 7, "name": None}, "tags": ["a"], "mixed": [1, "a"], "rows": [{"n": 1, "m": 2}, {"n": 2}]}
    )
    paths = ["user.id", "user.name", "user.gone", "tags", "mixed", "rows[0].n", "rows[1].m", "unknown"]
    session.call("USE", {path: f"see @input.{path}!" for path in paths})
    assert session.draft().input_schema == {
        "type": "object",
        "properties": {
            "user": {
                "type": "object",
                "properties": {"id": {"type": "integer", "examples": [7]}, "name": {}, "gone": {}},
                "required": ["id"],
            },
            "tags": {"type": "array", "items": {"type": "string"}, "examples": [["a"]]},
            "mixed": {"type": "array", "examples": [[1, "a"]]},
            "rows": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"n": {"type": "integer", "examples": [1]}, "m": {}},
                    "required": ["n"],
                },
            },
            "unknown": {},
        },
        "required": ["user", "tags", "mixed", "rows"],
    }


def test_the_bare_input_is_an_open_object() -> None:
    session = Session({"a": 1})
    session.call("USE", {"all": "@input"})
    assert session.draft().input_schema == {"type": "object"}


def test_secrets_are_no_examples_however_deep_they_are() -> None:
    session = Session({"auth": {"user": "ann", "password": "hunter2"}, "apiKey": "k-123"})
    session.call("LOGIN", {"auth": "@input.auth", "key": "@input.apiKey"})
    assert "hunter2" not in str(session.draft().definition)
    assert "k-123" not in str(session.draft().definition)


def test_a_schema_that_is_given_replaces_what_would_be_inferred() -> None:
    schema = {"type": "object", "properties": {"user_id": {"type": "integer", "minimum": 1}}}
    assert order_session().draft(input_schema=schema).definition["input_schema"] == schema
