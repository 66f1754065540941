"""Steps declared in Python: fluently, and from the signature of a function."""

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import msgspec
import pytest

from plait.dialects.goals.errors import GoalsError
from plait.dialects.goals.steps.builder import Input, Meta, PythonStep, catalog_step, python_step
from plait.dialects.goals.steps.reading import read_step
from plait.dialects.goals.steps.signature import kind_of
from plait.dialects.goals.steps.step import emitted
from plait.kernel.errors import PlaitError


class Charge(TypedDict):
    receipt: str
    fee: NotRequired[float]


@dataclasses.dataclass
class Parcel:
    weight: float
    tags: list[str]


class Place(NamedTuple):
    city: str


class Total(msgspec.Struct):
    result: int


def test_a_builder_gives_the_step_that_its_json_gives() -> None:
    built = (
        catalog_step("pay", "Pay")
        .required("card", str, inner="number", script=("ale", "number"))
        .required("items", list, for_each=True, collect="last", match=("lua", "return value"))
        .optional("note", str, default="hi", deadline=1.5)
        .optional("late", "number", deadline=-1)
        .const("limit", {"eur": 5}, dict)
        .meta("run", "flow_id")
        .output("receipt", str, inner="id")
        .webhook("https://pay.example.com/{number}", timeout=2, callback_timeout=60, recall=False)
        .when("lua", "return true", scope="item")
        .retries(3, first=0.1, cap=2, backoff="linear", statuses=(429,))
        .parallel(4)
        .labels(team="pay")
        .labels(tier="1")
        .build()
    )
    assert built == read_step(
        {
            "id": "pay",
            "name": "Pay",
            "type": "async",
            "http": {
                "endpoint": "https://pay.example.com/{number}",
                "timeout": 2000,
                "callback_timeout": 60000,
                "recall": False,
            },
            "attributes": {
                "card": {
                    "role": "required",
                    "type": "string",
                    "mapping": {"name": "number", "script": {"language": "ale", "script": "number"}},
                },
                "items": {
                    "role": "required",
                    "type": "array",
                    "for_each": True,
                    "collect": "last",
                    "match": {"language": "lua", "script": "return value"},
                },
                "note": {"role": "optional", "type": "string", "default": '"hi"', "deadline": 1500},
                "late": {"role": "optional", "type": "number", "deadline": -1},
                "limit": {"role": "const", "type": "object", "value": '{"eur":5}'},
                "run": {"role": "meta", "key": "flow_id"},
                "receipt": {"role": "output", "type": "string", "mapping": {"name": "id"}},
            },
            "predicate": {"language": "lua", "script": "return true", "scope": "item"},
            "work_config": {
                "max_retries": 3,
                "init_backoff": 100,
                "max_backoff": 2000,
                "backoff_type": "linear",
                "parallelism": 4,
                "retry_statuses": [429],
            },
            "labels": {"team": "pay", "tier": "1"},
        }
    )


def test_each_type_has_its_verb() -> None:
    built = [
        catalog_step("x").sync("http://localhost/", method="PUT").memoizable().build(),
        catalog_step("x").ale("1").build(),
        catalog_step("x").lua("return 1").no_retries().build(),
        catalog_step("x").flow("a", "b").build(),
        catalog_step("x").python("h", queue="gpu", timeout=3, compensate="undo").build(),
        catalog_step("x").run("code", "order").build(),
    ]
    assert [each.type for each in built] == ["sync", "script", "script", "flow", "python", "run"]
    assert emitted(built[4])["python"] == {"handler": "h", "queue": "gpu", "timeout": 3000, "compensate": "undo"}
    assert built[2].work_config.retry == "never"
    assert {each.name for each in built} == {"x"}


def test_a_half_made_step_can_be_shared() -> None:
    base = catalog_step("x").required("a").ale("a")
    one, two = base.required("b").labels(x="1").build(), base.output("c").build()
    assert (list(one.attributes), list(two.attributes), list(base.build().attributes)) == (
        ["a", "b"],
        ["a", "c"],
        ["a"],
    )
    assert two.labels == {}


def test_a_builder_is_refused_with_the_same_words_as_json() -> None:
    with pytest.raises(GoalsError) as caught:
        catalog_step("x").build()
    assert caught.value.message == "step 'x': 'type' is missing; add it"


def test_a_default_of_none_is_a_default() -> None:
    assert emitted(catalog_step("x").optional("a", default=None).ale("1").build())["attributes"]["a"]["optional"] == {
        "default": "null"
    }


def test_a_function_tells_its_step() -> None:
    @python_step
    def charge_card(order: str, amount: float, currency: str = "EUR", note: str | None = None) -> Charge:
        """Charge the card.

        And more."""
        return {"receipt": f"{order} {amount} {currency} {note}"}

    assert emitted(charge_card.definition) == {
        "id": "charge-card",
        "name": "Charge the card",
        "type": "python",
        "python": {"handler": "charge-card"},
        "attributes": {
            "amount": {"role": "required", "type": "number"},
            "currency": {"role": "optional", "type": "string", "optional": {"default": '"EUR"'}},
            "fee": {"role": "output", "type": "number"},
            "note": {"role": "optional", "type": "string"},
            "order": {"role": "required", "type": "string"},
            "receipt": {"role": "output", "type": "string"},
        },
        "work_config": emitted(catalog_step("x").ale("1").build())["work_config"],
    }
    assert charge_card("o", 1.0) == {"receipt": "o 1.0 EUR None"}


def test_notes_say_more_of_a_parameter() -> None:
    @python_step(
        id="pack", name="Pack", queue="gpu", timeout=2, compensate="unpack", configure=lambda made: made.no_retries()
    )
    async def pack_all(
        item: Annotated[str, Input(name="items", for_each=True)],
        prices: Annotated[list[float], Input(collect="all")],
        run: Annotated[str, Meta("flow_id")],
        *,
        hint: Annotated[int, Input(deadline=-1)] = 3,
    ) -> Parcel:
        return Parcel(1.0, [item, run, *map(str, prices), str(hint)])

    definition = pack_all.definition
    assert (definition.id, definition.name, definition.work_config.retry) == ("pack", "Pack", "never")
    assert emitted(definition)["python"] == {"handler": "pack", "queue": "gpu", "timeout": 2000, "compensate": "unpack"}
    assert emitted(definition)["attributes"] == {
        "hint": {"role": "optional", "type": "number", "optional": {"default": "3", "deadline": -1}},
        "items": {"role": "required", "type": "array", "required": {"for_each": True, "mapping": {"name": "item"}}},
        "prices": {"role": "required", "type": "number", "required": {"collect": "all"}},
        "run": {"role": "meta", "type": "string", "meta": {"key": "flow_id"}},
        "tags": {"role": "output", "type": "array"},
        "weight": {"role": "output", "type": "number"},
    }


def gives_a_typed_dict() -> Charge:
    return {"receipt": "r"}


def gives_a_dataclass() -> Parcel:
    return Parcel(2, ["a"])


def gives_a_named_tuple() -> Place:
    return Place("Bern")


def gives_a_struct() -> Total:
    return Total(3)


def gives_perhaps_a_struct() -> Total | None:
    return Total(4)


def gives_a_number() -> int:
    return 5


def gives_a_plain_object() -> dict[str, int]:
    return {"a": 6}


def gives_a_list() -> list[Place]:
    return []


def gives_null() -> None:
    return None


def gives_perhaps_a_number() -> int | None:
    return None


def says_nothing():
    return {"b": 7}


@pytest.mark.parametrize(
    ("fn", "declared", "outputs"),
    [
        (gives_a_typed_dict, ["fee", "receipt"], {"receipt": "r"}),
        (gives_a_dataclass, ["tags", "weight"], {"weight": 2, "tags": ["a"]}),
        (gives_a_named_tuple, ["city"], {"city": "Bern"}),
        (gives_a_struct, ["result"], {"result": 3}),
        (gives_perhaps_a_struct, ["result"], {"result": 4}),
        (gives_a_number, ["result"], {"result": 5}),
        (gives_a_plain_object, ["result"], {"result": {"a": 6}}),
        (gives_a_list, ["result"], {"result": []}),
        (gives_null, [], {}),
        (gives_perhaps_a_number, ["result"], {}),
        (says_nothing, [], {"b": 7}),
    ],
)
def test_what_a_function_returns_is_what_its_step_declares(
    fn: Callable[[], Any], declared: list[str], outputs: dict[str, Any]
) -> None:
    made = python_step(fn)
    assert list(made.definition.attributes) == declared
    assert made.outputs(made()) == outputs


def takes(parcel: Parcel, count: int, anything, places: list[Place] | None = None) -> None: ...


def test_arguments_come_as_the_types_that_the_function_wants() -> None:
    made = python_step(takes)
    sent = {"parcel": {"weight": 1, "tags": []}, "count": 2, "anything": {"x": None}, "places": [["Bern"]]}
    assert made.arguments(sent) == {
        "parcel": Parcel(1.0, []),
        "count": 2,
        "anything": {"x": None},
        "places": [Place("Bern")],
    }


def test_an_argument_of_another_type_is_refused_by_name() -> None:
    with pytest.raises(PlaitError) as caught:
        python_step(takes).arguments({"count": "two"})
    assert caught.value.code == "goals.input_invalid"
    assert "input 'count' has the wrong type" in str(caught.value)


def unnamed(*args: str) -> None: ...


def both_ways(city: str) -> Place:
    return Place(city)


def unreadable(x: "Nowhere") -> None: ...  # noqa: F821  # pyright: ignore[reportUndefinedVariable]


@pytest.mark.parametrize(
    ("fn", "why"),
    [
        (unnamed, "has no name of its own"),
        (both_ways, "`city` is an input and an output"),
        (unreadable, "its annotations can't be read"),
    ],
)
def test_a_function_that_can_not_be_a_step_is_refused(fn: Callable[..., Any], why: str) -> None:
    with pytest.raises(PlaitError) as caught:
        python_step(fn)
    assert caught.value.code == "goals.step_invalid"
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("hint", "kind"),
    [
        (str, "string"),
        (bool, "boolean"),
        (int, "number"),
        (float | int, "number"),
        (str | int, "any"),
        (str | None, "string"),
        (None, "null"),
        (Any, "any"),
        (bytes, "any"),
        (dict[str, int], "object"),
        (Charge, "object"),
        (Parcel, "object"),
        (Total, "object"),
        (Place, "array"),
        (list[int], "array"),
        (tuple[int, ...], "array"),
        (set[str], "array"),
        (Literal["a", "b"], "string"),
        (Literal["a", 1], "any"),
        (Annotated[int, "note"], "number"),
    ],
)
def test_python_types_have_attribute_types(hint: Any, kind: str) -> None:
    assert kind_of(hint) == kind


def test_a_python_step_is_its_function_with_a_definition() -> None:
    made = python_step(gives_a_number)
    assert isinstance(made, PythonStep)
    assert (made(), made.__name__) == (5, "gives_a_number")
