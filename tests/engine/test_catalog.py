"""`engine.catalog` as programs use it: steps in any shape, one by one or together, with their functions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypedDict

import pytest
from msgspec.structs import replace

from plait.dialects.goals.catalogs.catalog_changes import CatalogChanges
from plait.dialects.goals.catalogs.catalogs import Catalogs
from plait.dialects.goals.catalogs.checkups import Checker
from plait.dialects.goals.catalogs.cluster import StepHealth
from plait.dialects.goals.catalogs.health import Health
from plait.dialects.goals.catalogs.step_catalog import StepCatalog
from plait.dialects.goals.errors import Cycle, ScriptInvalid, StepExists, StepInvalid, StepNotFound
from plait.dialects.goals.planning.plan import Links
from plait.dialects.goals.steps.builder import PythonStep, catalog_step, python_step
from plait.dialects.goals.steps.step import emitted
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.kernel.records import Records
from plait.testing import VirtualClock
from tests.contract.stores.backends import Backend, Memory, Sqlite
from tests.dialects.goals.declaring import OnlyKnowsInputs, made
from tests.engine.places import OnDisk, until
from tests.kernel.filing import records_of


class Functions:
    def __init__(self) -> None:
        self.known: dict[str, Callable[..., Any]] = {}

    def add(self, name: str, handler: Callable[..., Any]) -> None:
        self.known[name] = handler


class Bench:
    """A catalog with all its parts, as an engine has it."""

    def __init__(self, records: Records) -> None:
        clock = VirtualClock()
        self.functions = Functions()
        compiler = OnlyKnowsInputs()
        catalogs = Catalogs(records, clock)
        checker = Checker(compiler, lambda name: name in self.functions.known, nobody_answers, clock)
        self.health = Health(catalogs, records, clock, checker, node="here")
        self.catalog = StepCatalog(catalogs, self.health, compiler, self.functions)


async def nobody_answers(url: str) -> str:
    return "no route"


@asynccontextmanager
async def bench(backend: Backend | None = None) -> AsyncIterator[Bench]:
    async with records_of(backend or Memory()) as records:
        yield Bench(records)


class Charge(TypedDict):
    receipt: str


@python_step
def charge_card(amount: float, currency: str = "EUR") -> Charge:
    """Charges a card."""
    return {"receipt": f"{amount} {currency}"}


async def test_a_step_is_taken_in_every_way_to_write_one() -> None:
    async with bench() as b:
        built = made("a", "x", "y").build()
        assert await b.catalog.register(built) == built
        assert await b.catalog.register(made("b", "y")) == made("b", "y").build()
        sent = {"id": "c", "name": "c", "type": "sync", "http": {"url": "http://localhost/x"}}
        assert (await b.catalog.register(sent)).http is not None
        assert await b.catalog.register(charge_card) == charge_card.definition
        assert [each.id for each in await b.catalog.list()] == ["a", "b", "c", "charge-card"]
        assert emitted(await b.catalog.get("a")) == emitted(built)


async def test_a_step_made_by_hand_goes_through_the_same_door() -> None:
    async with bench() as b:
        for wrong in (replace(made("a").build(), id="-a-"), ["a"], None, {"id": "a"}):
            with pytest.raises(StepInvalid):
                await b.catalog.register(wrong)  # pyright: ignore[reportArgumentType]
        assert await b.catalog.list() == []


async def test_register_update_and_upsert_differ_in_what_may_be_there() -> None:
    async with bench() as b:
        await b.catalog.register(made("a", "x"))
        await b.catalog.register(made("a", "x"))
        with pytest.raises(StepExists, match="differs in attributes"):
            await b.catalog.register(made("a", "y"))
        await b.catalog.update(made("a", "y"))
        with pytest.raises(StepNotFound, match="nearest: 'a'"):
            await b.catalog.update(made("aa"))
        await b.catalog.upsert(made("b", "y"))
        await b.catalog.upsert(made("b", "z"))
        assert [event.type for event in await b.catalog.events()] == [
            *("step_registered", "step_updated", "step_registered", "step_updated")
        ]
        assert [event.seq for event in await b.catalog.events(after=2)] == [3, 4]
        assert b.catalog.sequence == 4
        assert b.catalog.last_updated == (await b.catalog.events())[-1].at


async def test_unregistering_tells_who_is_left_without_a_provider() -> None:
    async with bench() as b:
        for each in (made("a", gives="x y"), made("b", gives="y"), made("c", "x y"), catalog_step("f").flow("a")):
            await b.catalog.register(each)
        removal = await b.catalog.unregister("a")
        assert (removal.orphans, removal.flows) == ({"x": ["c"]}, ["f"])
        for call in (b.catalog.unregister, b.catalog.get, b.catalog.health):
            with pytest.raises(StepNotFound):
                await call("a")


async def test_the_scripts_of_a_step_are_compiled_before_it_is_let_in() -> None:
    async with bench() as b:
        with pytest.raises(ScriptInvalid, match="unknown name 'amout'"):
            await b.catalog.register(made("a", "amount").when("ale", "amout"))
        assert await b.catalog.events() == []


async def test_lists_are_by_id_and_can_be_narrowed_by_labels() -> None:
    async with bench() as b:
        await b.catalog.register(made("b").labels(team="pay", tier="1"))
        await b.catalog.register(made("a").labels(team="pay"))
        await b.catalog.register(made("c"))

        async def ids(**labels: str) -> list[str]:
            return [each.id for each in await b.catalog.list(labels)]

        assert await ids() == ["a", "b", "c"]
        assert await ids(team="pay") == ["a", "b"]
        assert await ids(team="pay", tier="1") == ["b"]
        assert await ids(team="other") == []


async def test_names_are_shown_with_who_gives_and_who_takes_them() -> None:
    async with bench() as b:
        for each in (made("b", gives="x"), made("a", "w", "x"), made("c", "x").const("k", 1)):
            await b.catalog.register(each)
        assert await b.catalog.attributes() == {"w": Links([], ["a"]), "x": Links(["a", "b"], ["c"])}


# -- functions -------------------------------------------------------------------------------------------------------


async def test_the_function_of_a_python_step_is_kept_under_the_name_of_its_handler() -> None:
    def send(to: str) -> None: ...

    async with bench() as b:
        await b.catalog.register(charge_card)
        await b.catalog.register(catalog_step("mail").required("to").python("send-mail"), send)
        await b.catalog.register(catalog_step("elsewhere").python("gpu-work", queue="gpu"))
        assert b.functions.known == {"charge-card": charge_card, "send-mail": send}
        assert isinstance(b.functions.known["charge-card"], PythonStep)


async def test_a_function_is_kept_even_if_its_step_was_there_and_makes_it_healthy_here() -> None:
    async with bench() as b:
        b.health.open()
        await b.catalog.register(charge_card.definition)
        assert b.functions.known == {}
        await b.catalog.register(charge_card)
        assert list(b.functions.known) == ["charge-card"]
        await until(lambda: b.health.now(DEFAULT_NAMESPACE, "charge-card").status == "healthy")
        assert await b.catalog.health("charge-card") == StepHealth("healthy")
        assert (await b.catalog.health()).nodes == {"here": {"charge-card": StepHealth("healthy")}}
        assert [event.data["step_id"] for event in await b.catalog.health_events()] == ["charge-card"]
        await b.health.close()


async def test_the_function_of_a_step_that_is_refused_is_not_kept() -> None:
    async with bench() as b:
        await b.catalog.register(made("charge-card"))
        with pytest.raises(StepExists):
            await b.catalog.register(charge_card)
        assert b.functions.known == {}


async def test_a_function_for_a_step_that_calls_none_is_refused() -> None:
    async with bench() as b:
        with pytest.raises(InvalidInput, match="calls no function") as caught:
            await b.catalog.register(made("a"), print)
        assert caught.value.code == "goals.handler_unused"
        assert await b.catalog.list() == []


# -- together --------------------------------------------------------------------------------------------------------


async def test_a_transaction_makes_all_its_changes_when_it_ends() -> None:
    async with bench() as b:
        await b.catalog.register(made("old", gives="x"))
        await b.catalog.register(made("user", "x"))
        async with b.catalog.transaction() as changes:
            assert changes.register(made("new", gives="x")).id == "new"
            changes.unregister("old")
            changes.upsert(charge_card)
            changes.update(made("user", "x y"))
            assert [each.id for each in await b.catalog.list()] == ["old", "user"]
            assert b.functions.known == {}
        assert [each.id for each in await b.catalog.list()] == ["charge-card", "new", "user"]
        assert changes.removals["old"].orphans == {}
        assert list(b.functions.known) == ["charge-card"]


async def together(catalog: StepCatalog, last: Callable[[CatalogChanges], object]) -> None:
    async with catalog.transaction() as changes:
        changes.upsert(charge_card)
        last(changes)


@pytest.mark.parametrize(
    ("last", "error"),
    [
        (lambda changes: changes.register(made("b", "y", "x")), Cycle),
        (lambda changes: changes.register(made("b").when("ale", "nothing")), ScriptInvalid),
        (lambda changes: changes.register({"id": "b"}), StepInvalid),
        (lambda changes: changes.unregister("b"), StepNotFound),
        (lambda changes: 1 / 0, ZeroDivisionError),
    ],
)
async def test_a_transaction_with_one_bad_change_makes_none(
    last: Callable[[CatalogChanges], object], error: type[Exception]
) -> None:
    async with bench() as b:
        await b.catalog.register(made("a", "x", "y"))
        with pytest.raises(error):
            await together(b.catalog, last)
        assert [each.id for each in await b.catalog.list()] == ["a"]
        assert len(await b.catalog.events()) == 1
        assert b.functions.known == {}


async def test_steps_that_feed_each_other_come_in_any_order_in_a_transaction() -> None:
    async with bench() as b:
        async with b.catalog.transaction() as changes:
            changes.register(catalog_step("flow").flow("goal"))
            changes.register(made("goal", "x"))
            changes.register(made("source", gives="x"))
        assert len(await b.catalog.list()) == 3


async def test_a_transaction_without_changes_writes_nothing() -> None:
    async with bench() as b:
        async with b.catalog.transaction():
            pass
        assert b.catalog.sequence == 0


# -- namespaces and processes ----------------------------------------------------------------------------------------


async def test_each_namespace_has_a_catalog_of_its_own() -> None:
    async with bench() as b:
        acme = b.catalog.of("acme")
        await acme.register(made("a"))
        await b.catalog.register(made("b"))
        assert [each.id for each in await acme.list()] == ["a"]
        assert [each.id for each in await b.catalog.list()] == ["b"]
        with pytest.raises(InvalidInput, match="namespace"):
            b.catalog.of("No Such/Name")


async def test_a_second_process_sees_steps_as_soon_as_it_looks(disk: OnDisk) -> None:
    file = Sqlite(disk.path)
    async with bench(file) as one, bench(file) as two:
        await one.catalog.register(made("a", gives="x"))
        assert (await two.catalog.get("a")).id == "a"
        await two.catalog.register(made("b", "x"))
        assert list(await one.catalog.attributes()) == ["x"]
        assert [each.id for each in await one.catalog.list()] == ["a", "b"]
        assert await two.catalog.events() == await one.catalog.events()
