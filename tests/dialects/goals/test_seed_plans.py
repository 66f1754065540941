"""The example of the seed document gives exactly its three plans."""

import pytest

from plait.dialects.goals.errors import InputsMissing
from plait.dialects.goals.planning.plan import Plan
from plait.dialects.goals.planning.planner import plan
from plait.dialects.goals.planning.request import check_start
from tests.dialects.goals.declaring import catalog_of, made

A = made("a", gives="customer_id")
CHAIN = [
    made("b", "customer_id", "order_list"),
    made("c", "order_list", "total_value"),
    made("d", "total_value", "recommendation"),
]


def links(found: Plan) -> dict[str, tuple[list[str], list[str]]]:
    return {name: (each.providers, each.consumers) for name, each in found.attributes.items()}


def test_an_empty_init_plans_the_whole_chain() -> None:
    found = plan(catalog_of(A, *CHAIN), ["d"], {})
    assert found.goals == ["d"]
    assert list(found.steps) == ["a", "b", "c", "d"]
    assert links(found) == {
        "customer_id": (["a"], ["b"]),
        "order_list": (["b"], ["c"]),
        "recommendation": (["d"], []),
        "total_value": (["c"], ["d"]),
    }
    assert found.required == []


def test_a_given_name_leaves_its_provider_out() -> None:
    found = plan(catalog_of(A, *CHAIN), ["d"], {"customer_id": 123})
    assert list(found.steps) == ["b", "c", "d"]
    assert links(found)["customer_id"] == ([], ["b"])
    assert found.excluded.satisfied == {"a": ["customer_id"]}
    assert found.excluded.missing == {}
    assert found.required == []


def test_without_a_provider_the_deepest_gap_is_named() -> None:
    found = plan(catalog_of(*CHAIN), ["d"], {})
    assert list(found.steps) == ["b", "c", "d"]
    assert found.required == ["customer_id"]
    with pytest.raises(InputsMissing):
        check_start(found)


def test_the_plan_of_the_seed_event_links_user_to_mail() -> None:
    found = plan(
        catalog_of(made("fetch-user", "user_id", "email"), made("send-email", "email", "message_id")),
        ["send-email"],
        {"user_id": "12345"},
    )
    assert links(found) == {
        "email": (["fetch-user"], ["send-email"]),
        "message_id": (["send-email"], []),
        "user_id": ([], ["fetch-user"]),
    }
    assert found.required == []  # only what lacks: the sample of the seed lists a name that it gives
