"""Which groups of a text are asked of PostgreSQL's index: the rare ones."""

from plait.kernel.run_text import groups
from plait.kernel.store import RunFilter
from plait.stores.postgres.run_lists import ROWS, row_arguments
from plait.stores.postgres.text_statistics import UNKNOWN, TextStatistics
from plait.stores.run_lists import Rows, TextMatch, source
from tests.contract.stores.builders import create
from tests.stores.looking_in import looking_in, opened_at

MANY = TextStatistics(10_000_000, {"//default": 0.9, "ord": 0.5, "er-": 0.98, "r-1": 0.26, "500": 0.004}, 0.003)
ORDER = groups("order-5000001")


def test_groups_that_most_texts_have_are_left_out():
    assert MANY.rarest(ORDER) == ["000", "001"]


def test_of_common_groups_the_rarest_are_asked_for():
    assert MANY.rarest(groups("order-1"))[:2] == ["r-1", "ord"]


def test_where_nobody_has_counted_all_are_asked_for():
    assert UNKNOWN.rarest(ORDER) == ORDER
    assert UNKNOWN.worth_asking(["default"]) == ["default"]
    assert UNKNOWN.expected(ORDER) is None


def test_a_namespace_is_asked_for_where_its_runs_are_few():
    assert MANY.worth_asking(["default", "acme"]) == ["acme"]


def test_the_rarest_group_says_how_many_runs_have_a_text_at_most():
    assert MANY.expected(ORDER) == 30_000
    assert MANY.expected(groups("order-1")) == 2_600_000


async def test_the_index_has_every_group_of_a_text_and_its_namespace(postgres_url: str):
    async with opened_at(postgres_url), looking_in(postgres_url) as db:
        found = await db.fetchval("select plait.text_groups('acme', 'ärger')")
        short = await db.fetchval("select plait.text_groups('acme', 'ab')")
    assert set(found) == {"//acme", "ärg", "rge", "ger"}
    assert short == ["//acme"]


async def test_a_namespace_that_the_index_is_not_asked_for_is_checked_on_the_rows(postgres_url: str):
    spaces = {"mine": "default", "acme/theirs": "acme"}
    async with opened_at(postgres_url) as store:
        for run_id, space in spaces.items():
            await create(store, run_id, namespace=space, labels={"city": "Bergen"})
        await store.runs(RunFilter(text="bergen"))  # their texts are in the index then
        step = Rows(source("of_text", [("default",)]), TextMatch("bergen", ("bergen",), (), anywhere=True))
        arguments = row_arguments(RunFilter(limit=10), step, MANY)
        assert arguments[-1] == []
        async with store._use(store._lists) as connection:
            found = await connection.fetch(ROWS["of_text"], *arguments)
    assert [row["id"] for row in found] == ["mine"]
