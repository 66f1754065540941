"""Values go through JSON on the first run already, so that the first run and every replay see equal types."""

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, NamedTuple, TypedDict
from uuid import UUID

import msgspec
import pydantic
import pytest

from plait import Context, Loop, step, workflow

from .conftest import Simulate
from .decided import deciding
from .support import Ledger, failure, refused


class Colour(enum.Enum):
    RED = "red"


class Size(enum.IntEnum):
    BIG = 3


@dataclass
class Item:
    sku: str
    price: Decimal
    tags: set[str] = field(default_factory=set)


class Box(msgspec.Struct, frozen=True):
    items: list[Item]
    colour: Colour


class Point(NamedTuple):
    x: int
    y: int


class Options(TypedDict, total=False):
    loud: bool


VALUES: list[tuple[Any, Any]] = [
    (str, "ünï"),
    (int, 2**53 + 1),
    (int, -(2**63)),
    (float, 1e300),
    (bool, True),
    (None, None),
    (datetime, datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)),
    (date, date(2030, 1, 2)),
    (time, time(3, 4, 5)),
    (timedelta, timedelta(days=3, seconds=1)),
    (Decimal, Decimal("0.10")),
    (UUID, UUID(int=5)),
    (Colour, Colour.RED),
    (Size, Size.BIG),
    (bytes, b"\x00\xff"),
    (tuple[int, str], (1, "a")),
    (tuple[int, ...], (1, 2, 3)),
    (set[int], {1, 2}),
    (frozenset[str], frozenset({"a"})),
    (list[Colour], [Colour.RED]),
    (dict[str, Decimal], {"a": Decimal("1.50")}),
    (dict[int, str], {1: "a"}),
    (Item, Item("tea", Decimal("2.50"), {"hot"})),
    (Box, Box([Item("tea", Decimal("2.50"))], Colour.RED)),
    (Point, Point(1, 2)),
    (Options, {"loud": True}),
    (Item | None, None),
    (Item | None, Item("tea", Decimal("1"))),
    (Annotated[int, msgspec.Meta(gt=0)], 5),
]


@pytest.mark.parametrize(("type", "value"), VALUES, ids=[str(type) for type, _ in VALUES])
async def test_a_typed_result_comes_back_as_its_type(type: Any, value: Any) -> None:
    seen: list[Any] = []

    @workflow
    async def w(ctx: Context) -> bool:
        found = await ctx.step("a", lambda: value, returns=type)
        seen.append(found)
        await ctx.sleep("nap", 1)
        return True

    async with deciding() as s:
        run = await s.start(w)
        await s.settle()
        await s.crash()
        await s.result(run)
    first, replayed = seen[0], seen[-1]
    assert len(seen) > 1
    assert first == replayed == value
    assert first.__class__ is replayed.__class__ is value.__class__


async def test_the_return_annotation_is_the_type() -> None:
    @step
    async def named(sku: str) -> Item:
        return Item(sku, Decimal("1.5"))

    async def plain() -> Item:
        return Item("plain", Decimal("2.5"))

    class Service:
        def method(self) -> Item:
            return Item("method", Decimal("3.5"))

        async def __call__(self) -> Item:
            return Item("callable", Decimal("4.5"))

    @workflow
    async def w(ctx: Context) -> list[str]:
        found = [
            await ctx.step("named", named, "named"),
            await ctx.step("plain", plain),
            await ctx.step("method", Service().method),
            await ctx.step("callable", Service()),
        ]
        assert all(type(item) is Item and type(item.price) is Decimal for item in found)
        return [item.sku for item in found]

    async with deciding() as s:
        assert await s.run(w) == ["named", "plain", "method", "callable"]


async def test_returns_wins_over_the_annotation() -> None:
    def untyped() -> dict[str, Any]:
        return {"sku": "tea", "price": "1.5"}

    @workflow
    async def w(ctx: Context) -> str:
        return (await ctx.step("a", untyped, returns=Item)).sku

    async with deciding() as s:
        assert await s.run(w) == "tea"


async def test_without_a_type_values_are_plain_json_on_the_first_run_already() -> None:
    @workflow
    async def w(ctx: Context) -> Any:
        found = await ctx.step(
            "a", lambda: {"t": (1, 2), "i": Item("tea", Decimal("1")), "d": date(2030, 1, 1), 5: {6}}
        )
        assert found == {"t": [1, 2], "i": {"sku": "tea", "price": "1", "tags": []}, "d": "2030-01-01", "5": [6]}
        return True

    async with deciding() as s:
        assert await s.run(w) is True


async def test_results_are_copies() -> None:
    shared = {"n": [1]}

    @workflow
    async def w(ctx: Context) -> list[Any]:
        first = await ctx.step("a", lambda: shared)
        first["n"].append(2)
        return [shared, first]

    async with deciding() as s:
        assert await s.run(w) == [{"n": [1]}, {"n": [1, 2]}]


async def test_arguments_of_a_step_are_recorded_and_passed_as_copies() -> None:
    got: list[Any] = []

    @step
    async def take(item: Item, when: datetime, rest: dict[str, Any], *, flag: bool = False) -> str:
        got.extend([item, when, rest])
        item.tags.add("changed")
        return item.sku

    when = datetime(2030, 1, 1, tzinfo=UTC)

    @workflow
    async def w(ctx: Context) -> list[str]:
        item = Item("tea", Decimal("1"))
        await ctx.step("take", take, item, when, {"a": (1, 2)})
        return sorted(item.tags)

    async with deciding() as s:
        run = await s.start(w)
        assert await s.result(run) == []
        opened = (await run.history()).of("op.opened")[0]
        assert opened["args"] == [{"sku": "tea", "price": "1", "tags": []}, "2030-01-01T00:00:00Z", {"a": [1, 2]}]
        assert opened["fn"].endswith(":" + take.fn.__qualname__)
    assert got == [Item("tea", Decimal("1"), {"changed"}), when, {"a": [1, 2]}]


async def test_a_step_with_defaults_and_one_with_any_number_of_arguments() -> None:
    @step
    def add(a: int, b: int = 10) -> int:
        return a + b

    @step
    def total(*numbers: int) -> int:
        return sum(numbers)

    @workflow
    async def w(ctx: Context) -> list[int]:
        return [
            await ctx.step("one", add, 1),
            await ctx.step("two", add, 1, 2),
            await ctx.step("all", total, 1, 2, 3),
            await ctx.step("none", total),
        ]

    async with deciding() as s:
        assert await s.run(w) == [11, 3, 6, 0]


async def test_none_is_a_value() -> None:
    ledger = Ledger()

    @workflow
    async def w(ctx: Context) -> list[Any]:
        found = [
            await ctx.step("a", ledger.does("a")),
            await ctx.loop("l", lambda c: _break(c)),
            (await ctx.join("j", x=lambda c: c.step("x", ledger.does("x")))).x,
            (await ctx.race("r", x=lambda c: c.step("x", ledger.does("r")))).value,
        ]
        await ctx.sleep("nap", 1)
        return found

    async def _break(c: Context) -> Any:
        return Loop.break_(None)

    async with deciding() as s:
        run = await s.start(w)
        await s.settle()
        await s.crash()
        assert await s.result(run) == [None, None, None, None]
        nodes = {node.id: node.status for node in (await run.view()).nodes}
        assert set(nodes.values()) == {"completed"}
    assert ledger == ["a", "x", "r"]


async def test_a_null_that_misfits_its_type_is_not_recorded() -> None:
    def lies() -> int:
        return None  # type: ignore[return-value]

    @workflow
    async def w(ctx: Context) -> Any:
        return await ctx.step("a", lies)

    async with deciding() as s:
        run = await s.start(w)
        info = await failure(s, run)
        assert info.code == "step.exhausted"
        assert "does not fit what its function says it returns, int" in info.message


async def test_results_of_branches_and_loops_that_misfit_are_not_recorded_and_block_nothing() -> None:
    async def lies(ctx: Context) -> int:
        return "x"  # type: ignore[return-value]

    async def breaks(ctx: Context, n: int) -> Loop[int, int]:
        return Loop.break_("x")  # type: ignore[arg-type]

    async def goes_on(ctx: Context, n: int) -> Loop[int, int]:
        return Loop.continue_("x")  # type: ignore[arg-type]

    @workflow
    async def w(ctx: Context) -> list[str]:
        found: list[str] = []
        for asking in (
            lambda: ctx.join("j", a=lies),
            lambda: ctx.race("r", a=lies),
            lambda: ctx.loop("b", breaks, state=0),
            lambda: ctx.loop("c", goes_on, state=0, commit_interval=1),
        ):
            try:
                await asking()
            except (ExceptionGroup, TypeError) as error:
                found.append(str(error))
        await ctx.sleep("nap", 1)
        return found

    async with deciding() as s:
        run = await s.start(w)
        await s.settle()
        await s.crash()
        join, race, result, state = await s.result(run)
    assert "the result of branch `a` does not fit what its function says it returns, int" in join
    assert "the result of branch `a` does not fit" in race
    assert "the result of loop `b` does not fit what its function says it returns, int" in result
    assert "the state of loop `c` does not fit the parameter of its body: Expected `int`, got `str`" in state


async def test_a_branch_that_returns_an_operation_takes_its_type() -> None:
    async def buy() -> Item:
        return Item("tea", Decimal("1.5"))

    async def branch(c: Context) -> Item:
        return Item("annotated", Decimal("2"))

    async def untyped(c: Context):  # type: ignore[no-untyped-def]
        return Item("untyped", Decimal("3"))

    seen: list[Any] = []

    @workflow
    async def w(ctx: Context) -> bool:
        found = await ctx.join("j", op=lambda c: c.step("buy", buy), typed=branch, plain=untyped)
        won = await ctx.race("r", op=lambda c: c.step("buy", buy))
        seen.append([found.op, found["typed"], found.plain, won.value])
        await ctx.sleep("nap", 1)
        return True

    async with deciding() as s:
        run = await s.start(w)
        await s.settle()
        await s.crash()
        await s.result(run)
    expected = [
        Item("tea", Decimal("1.5")),
        Item("annotated", Decimal("2")),
        {"sku": "untyped", "price": "3", "tags": []},
        Item("tea", Decimal("1.5")),
    ]
    assert seen[0] == seen[-1] == expected


async def test_the_state_of_a_loop_has_the_type_of_the_bodys_parameter() -> None:
    kinds: list[type] = []

    async def body(ctx: Context, left: list[Item]) -> Any:
        kinds.extend(type(item) for item in left)
        await ctx.sleep("nap", 1)
        return Loop.continue_(left[1:]) if left else Loop.break_(Decimal("1.5"))

    @workflow
    async def w(ctx: Context) -> str:
        items = [Item("tea", Decimal("1")), Item("milk", Decimal("2"))]
        found = await ctx.loop("l", body, state=items, returns=Decimal)
        return type(found).__name__

    async with deciding() as s:
        assert await s.run(w) == "Decimal"
    assert set(kinds) == {Item}


async def test_the_output_of_a_run_has_the_type_of_the_workflow(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> Item:
        return Item("tea", Decimal("1"))

    async with simulate([w]) as s:
        handle = await s.engine.start(w, id="r")
        assert await handle.result() == Item("tea", Decimal("1"))
        again = await s.engine.get("r")
        assert await again.result() == Item("tea", Decimal("1"))


async def test_an_output_that_misfits_its_annotation_is_explained(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> int:
        return "five"  # type: ignore[return-value]

    async with simulate() as s:
        handle = await s.engine.start(w)
        with pytest.raises(Exception, match=r"the output of run .* does not fit") as caught:
            await handle.result()
        assert getattr(caught.value, "code", "") == "kernel.output_misfit"


async def test_large_values_go_through_unharmed() -> None:
    text = "x" * 100_000

    @workflow
    async def w(ctx: Context, given: str) -> list[Any]:
        found = await ctx.step("a", lambda: given + given)
        await ctx.sleep("nap", 1)
        return [found == given * 2, await ctx.step("b", lambda: found)]

    async with deciding() as s:
        run = await s.start(w, text)
        await s.settle()
        await s.crash()
        assert await s.result(run) == [True, text * 2]


@pytest.mark.parametrize(
    "make", [lambda: "x" * 10, lambda: [1] * 5, lambda: {"a": None}], ids=["text", "list", "with null"]
)
async def test_plain_values_stay_equal(make: Callable[[], Any]) -> None:
    @workflow
    async def w(ctx: Context) -> Any:
        return await ctx.step("a", make)

    async with deciding() as s:
        assert await s.run(w) == make()


# -- results and their annotations -------------------------------------------------------------------------------------


class Customer(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(serialize_by_alias=True)
    full_name: str = pydantic.Field(alias="fullName")
    age: int = pydantic.Field(validation_alias="ageIn", serialization_alias="ageOut")


ANN = {"fullName": "ann", "ageIn": 5}


@dataclass
class Card:
    number: str


@dataclass
class Giro:
    number: str
    bank: str


class Sealed(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    price: int

    @pydantic.computed_field
    @property
    def double(self) -> int:
        return 2 * self.price


async def test_models_with_computed_fields_come_back_as_they_were(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> list[int]:
        found = await ctx.step("a", lambda: [Sealed(price=2)], returns=list[Sealed])
        return [found[0].price, found[0].double]

    async with simulate() as s:
        assert await s.run(w) == [2, 4]


async def test_models_with_aliases_come_back_as_they_were(simulate: Simulate) -> None:
    seen: list[Any] = []

    @step
    async def load() -> Customer:
        return Customer.model_validate(ANN)

    @workflow
    async def w(ctx: Context, customer: Customer) -> Customer:
        seen.append(customer)
        seen.append(await ctx.step("load", load))
        return customer

    async with simulate([w]) as s:
        run = await s.start(w, ANN)
        await s.result(run)
        handle = await s.engine.get(run.id)
        assert await handle.result() == Customer.model_validate(ANN)
    assert set(map(str, seen)) == {str(Customer.model_validate(ANN))}


async def test_a_union_of_dataclasses_is_read_as_the_one_that_fits(simulate: Simulate) -> None:
    seen: list[Any] = []

    @step
    async def method(giro: bool) -> Card | Giro | None:
        return Giro("1", "b") if giro else Card("2")

    @workflow
    async def w(ctx: Context) -> None:
        seen.append(await ctx.step("a", method, True))
        seen.append(await ctx.step("b", method, False))

    async with simulate([w]) as s:
        await s.run(w)
    assert seen[-2:] == [Giro("1", "b"), Card("2")]


@dataclass
class Wallet:
    methods: list[Card | Giro]
    by_name: dict[str, Card | Giro | None]
    spare: "Wallet | None" = None


@dataclass
class Approved:
    by: str


@dataclass
class Rejected:
    by: str


WALLET = Wallet([Card("1"), Giro("2", "b")], {"x": Giro("3", "c"), "y": None}, Wallet([Giro("4", "d")], {}))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (list[Card | Giro], [Card("1"), Giro("2", "b")]),
        (dict[str, Giro | Card], {"a": Card("1"), "b": Giro("2", "b")}),
        (list[Card | Giro] | None, [Giro("2", "b")]),
        (tuple[Card | Giro, int], (Giro("2", "b"), 1)),
        (dict[int, list[Card | Giro | int]], {7: [3, Card("1")]}),
        (Annotated[Card | Giro, "how"], Giro("2", "b")),
        (Wallet, WALLET),
        (list[Wallet], [WALLET]),
    ],
    ids=str,
)
async def test_unions_of_dataclasses_are_read_wherever_they_are(kind: Any, value: Any, simulate: Simulate) -> None:
    seen: list[Any] = []

    async def give(given: Any) -> Any:
        seen.append(given)
        return given

    async def w(ctx: Context, given: Any) -> Any:
        seen.append(given)
        seen.append(await ctx.step("give", given_step, given))
        return given

    give.__annotations__ = {"given": kind, "return": kind}
    w.__annotations__ = {"given": kind, "return": kind}
    given_step, definition = step(give), workflow(w)
    async with simulate([definition]) as s:
        run = await s.start(definition, value)
        await s.result(run)
        assert await (await s.engine.get(run.id)).result() == value
    assert seen[-2:] == [value, value]
    assert all(each == value for each in seen)


def test_types_that_json_can_not_tell_apart_are_refused_where_they_are_written() -> None:
    with refused(
        "CODE_BAD_SIGNATURE", "what it returns can't be read back", "`Approved` and `Rejected`", "kind: Literal"
    ):

        @step
        async def decide() -> list[Approved | Rejected]: ...

    with refused("CODE_BAD_SIGNATURE", "`verdict` can't be read back"):

        @workflow
        async def w(ctx: Context, verdict: Approved | Rejected) -> None: ...


@pytest.mark.parametrize("inline", [True, False])
async def test_a_result_that_misfits_its_annotation_fails_the_attempt(simulate: Simulate, inline: bool) -> None:
    answers: list[Any] = ["five", 5]

    @step
    async def named() -> int:
        return answers.pop(0)

    async def plain() -> int:
        return answers.pop(0)

    @workflow
    async def w(ctx: Context) -> int:
        return await ctx.step("count", plain if inline else named, max_attempts=2)

    async with simulate([w]) as s:
        run = await s.start(w)
        assert await s.result(run) == 5
        retried = [e for e in (await run.history()).events if e.type == "task.retry_scheduled"]
        assert "the result of step `count` does not fit what its function says it returns, int" in str(retried[0].data)
