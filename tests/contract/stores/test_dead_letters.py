"""What people look at: dead letters they deal with."""

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, RunId
from plait.kernel.store import Settled
from tests.contract.stores.backends import Backend, opened
from tests.contract.stores.builders import NOW, dead_letter, must, own_all


async def test_dead_letters_are_listed_oldest_first(backend: Backend):
    rows = [
        dead_letter("b", at=Millis(NOW + 1)),
        dead_letter("a", namespace="acme", at=Millis(NOW + 2)),
        dead_letter("a", "two", at=Millis(NOW + 3)),
    ]
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("a", dead_letters=rows[1:]), owner.write("b", dead_letters=rows[:1]))
        assert await store.dead_letters(None) == rows
        assert await store.dead_letters("acme") == [rows[1]]
        assert await store.dead_letters(None, RunId("a")) == rows[1:]


async def test_a_new_failure_takes_the_old_dead_letters_place(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", dead_letters=[dead_letter("run")]))
        await must(store, owner.write("run", settled=[Settled("run:charge", "retried")]))
        newer = dead_letter("run", attempts=6, error=ErrorInfo("task.failed", "again"), at=Millis(NOW + 7))
        await must(store, owner.write("run", dead_letters=[dead_letter("run", attempts=5), newer]))
        assert await store.dead_letters(None) == [newer]


async def test_a_dead_letter_is_settled_and_stays_on_the_list(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", dead_letters=[dead_letter("run", "a"), dead_letter("run", "b")]))
        settled = [Settled("run:a", "retried"), Settled("run:b", "discarded"), Settled("run:c", "discarded")]
        await must(store, owner.write("run", settled=settled))
        assert [(row.id, row.status) for row in await store.dead_letters(None)] == [
            ("run:a", "retried"),
            ("run:b", "discarded"),
        ]
