"""How a list of runs is read, decided without a database: which index is asked, and how far."""

from collections.abc import Callable
from typing import Any

from plait.kernel.ids import Millis
from plait.kernel.run_text import groups, may_be_generated
from plait.kernel.store import RunFilter, RunRow
from plait.stores.run_lists import Abilities, Count, Expected, Floor, Names, Rows, Step, bounds, list_steps
from tests.contract.stores.builders import run_row

SORTING = Abilities(orders_texts=False, splits_definitions=True)
LIMIT = 50


class Asked:
    """Plays a store whose newest runs have a text one time in `every`."""

    def __init__(
        self,
        query: RunFilter,
        can: Abilities = SORTING,
        every: int = 10**9,
        runs: int = 1_000_000,
        expected: int | None = None,
    ) -> None:
        self.steps: list[Step] = []
        self._every, self._runs, self._expected = every, runs, expected
        self._query = query
        reading = list_steps(query, can)
        try:
            step = next(reading)
            while True:
                self.steps.append(step)
                step = reading.send(self._answer(step))
        except StopIteration as done:
            self.listed: list[RunRow] = done.value

    def _answer(self, step: Step) -> Any:
        match step:
            case Names():
                return [("default", "code" if step.of == "dialects" else "order")]
            case Count():
                return step.most
            case Expected():
                return self._expected
            case Floor():
                top = self._runs if step.until is None else step.until
                return top - step.depth if top > step.depth else None
            case Rows():
                (before, _), since = bounds(self._query, step)
                newest = range(min(before, self._runs) - 1, max(since, 0) - 1, -1)
                if step.source.index == "of_text":
                    return [run(number) for number in (3, 2, 1)]
                return [run(number) for number in newest if number % self._every == 0][: self._query.limit]

    def of(self, kind: Callable[..., Any]) -> list[Any]:
        return [step for step in self.steps if isinstance(step, kind)]  # type: ignore[arg-type]

    @property
    def indexes(self) -> list[str]:
        return [step.source.index for step in self.of(Rows)]


def run(number: int) -> RunRow:
    return run_row(f"run-{number:09}", created_at=Millis(number))


def search(**filters: Any) -> RunFilter:
    return RunFilter(namespace="default", limit=LIMIT, text="declined", **filters)


def test_a_text_that_many_runs_have_is_found_among_the_newest_and_its_index_is_not_asked():
    asked = Asked(search(), every=50)
    assert set(asked.indexes) == {"of_status"}
    assert [row.created_at for row in asked.listed] == list(range(999_950, 999_950 - 50 * LIMIT, -50))


def test_no_run_is_looked_at_twice_on_the_way_to_a_whole_page():
    looks = Asked(search(), every=50).of(Rows)
    assert len(looks) > 1
    assert [look.until for look in looks] == [None, *(look.since for look in looks[:-1])]


def test_a_text_that_none_of_the_newest_runs_has_is_asked_of_its_index():
    asked = Asked(search())
    assert asked.indexes[-1] == "of_text"
    assert sum(floor.depth for floor in asked.of(Floor)) == 500


def test_a_text_that_few_runs_have_is_asked_of_its_index_before_many_were_looked_at():
    asked = Asked(search(), every=400)
    assert asked.indexes[-1] == "of_text"
    assert sum(floor.depth for floor in asked.of(Floor)) < 10_000


def test_a_text_that_most_runs_have_but_none_of_the_newest_is_looked_for_farther_down():
    """Its index would give millions of runs, in no order."""
    asked = Asked(search(), every=900, expected=10_000_000)
    assert set(asked.indexes) == {"of_status"}


def test_the_look_for_a_text_that_many_have_ends_in_time_too():
    asked = Asked(search(), expected=10_000_000)
    assert asked.indexes[-1] == "of_text"
    assert sum(floor.depth for floor in asked.of(Floor)) <= 50_000


def test_where_there_are_few_runs_all_are_looked_at():
    asked = Asked(search(), runs=400)
    assert asked.indexes == ["of_status"]


def test_a_definition_and_a_status_are_read_from_one_index_where_it_has_both():
    query = RunFilter(namespace="default", limit=LIMIT, definition="order", status="failed")
    asked = Asked(query, every=1)
    assert [step.source.keys for step in asked.of(Rows)] == [(("default", "order", "failed"),)]
    assert not asked.of(Count)


def test_a_name_is_looked_for_only_among_runs_of_the_statuses_asked_for():
    """A definition may have millions of completed runs, and none that failed."""
    query = RunFilter(namespace="default", limit=LIMIT, text="order", status="failed")
    [named] = [step for step in Asked(query).of(Rows) if step.source.index == "of_definition"]
    assert {key[2] for key in named.source.keys} == {"failed", "waiting"}


def test_ids_that_the_index_of_texts_has_are_not_looked_for_by_their_beginning():
    assert "of_prefix" not in [step.source.index for step in Asked(search()).of(Count)]
    numbered = RunFilter(namespace="default", limit=LIMIT, text="order-0199")
    assert "of_prefix" in [step.source.index for step in Asked(numbered).of(Count)]


def test_an_id_may_go_on_with_a_generated_part_after_a_zero_only():
    generated = "01999999-0000-7000-8000-00000000002a"
    assert all(may_be_generated(f"order-{generated}"[:length]) for length in range(7, 43))
    assert may_be_generated(f"{generated}-of-kim")
    assert not may_be_generated("order-1")
    assert not may_be_generated("declined")


def test_the_groups_of_a_text_lie_side_by_side_and_reach_its_end():
    assert groups("order-1") == ["ord", "er-", "r-1"]
    assert groups("red") == ["red"]
    assert groups("abcabc") == ["abc"]
