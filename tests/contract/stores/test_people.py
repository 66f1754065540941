"""What people look at: questions they are asked, and dead letters they deal with."""

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, RunId, TaskToken
from plait.kernel.store import Settled
from tests.contract.stores.backends import Backend, opened
from tests.contract.stores.builders import NOW, dead_letter, must, own_all, question


async def test_questions_are_listed_oldest_first(backend: Backend):
    rows = [
        question("b", "ask", title="Ship it? 🚢", deadline=Millis(NOW + 9), asked_at=Millis(NOW + 1)),
        question("a", "ask", namespace="acme", asked_at=Millis(NOW + 2)),
        question("a", "too", asked_at=Millis(NOW + 2)),
    ]
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("a", questions=rows[1:]), owner.write("b", questions=rows[:1]))
        assert await store.questions(None) == rows
        assert await store.questions("acme") == [rows[1]]
        assert await store.questions(None, RunId("a")) == rows[1:]
        assert await store.questions("acme", RunId("b")) == []


async def test_an_answered_question_is_gone(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", questions=[question("run", "a"), question("run", "b")]))
        await must(store, owner.write("other", questions=[question("other", "a")]))
        await must(store, owner.write("run", answered=[TaskToken("a"), TaskToken("never asked")]))
        assert [row.id for row in await store.questions(None)] == ["other:a", "run:b"]


async def test_a_question_asked_twice_is_one(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", questions=[question("run"), question("run", title="again")]))
        await must(store, owner.write("run", questions=[question("run", title="and again")]))
        assert await store.questions(None) == [question("run")]


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
