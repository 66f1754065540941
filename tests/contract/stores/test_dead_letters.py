"""What people look at: dead letters they deal with."""

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, RunId
from plait.kernel.store import DeadLetter, DeadLetterStatus, Settled, Store
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


async def test_pages_follow_each_other_without_gap_or_repetition(backend: Backend):
    rows = [dead_letter(f"run-{n % 2}", f"task-{n:02}", at=Millis(NOW + n // 3)) for n in range(12)]
    foreign = dead_letter("other", namespace="acme", at=Millis(NOW + 1))
    settled = [Settled(row.id, "retried" if n % 4 == 1 else "discarded") for n, row in enumerate(rows) if n % 2]
    rows.sort(key=lambda row: (row.at, row.id))
    async with opened(backend) as store:
        owner = await own_all(store)
        for run_id in ("run-0", "run-1"):
            await must(store, owner.write(run_id, dead_letters=[row for row in rows if row.run_id == run_id]))
        await must(store, owner.write("other", dead_letters=[foreign]))
        await must(store, owner.write("run-1", settled=settled))
        ids = [row.id for row in rows]
        assert await paged(store, "default") == ids
        assert await paged(store, "default", status="pending") == [id for id in ids if id.startswith("run-0")]
        assert await paged(store, "default", status="retried") == [f"run-1:task-{n:02}" for n in (1, 5, 9)]
        assert await paged(store, "default", RunId("run-1")) == [id for id in ids if id.startswith("run-1")]
        assert await paged(store, None) == [
            row.id for row in sorted([*rows, foreign], key=lambda row: (row.at, row.id))
        ]


async def paged(
    store: Store, namespace: str | None, run_id: RunId | None = None, status: DeadLetterStatus | None = None
) -> list[str]:
    found: list[DeadLetter] = []
    after: tuple[Millis, str] | None = None
    while page := await store.dead_letters(namespace, run_id, status, after, 2):
        assert len(page) <= 2
        found += page
        after = page[-1].at, page[-1].id
    return [each.id for each in found]
