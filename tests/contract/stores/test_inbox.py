"""The inbox: inputs in order, each once, answered once; what nobody will read becomes a dead letter."""

from plait.kernel.ids import RunId
from plait.kernel.store import Taken
from tests.contract.stores.backends import Backend, opened
from tests.contract.stores.builders import (
    ALL,
    create,
    dead_letter,
    ended,
    keys,
    message,
    must,
    one_of_another_shard,
    outside,
    own_all,
    run_row,
)

RUN = RunId("run")


async def test_an_input_waits_as_it_was_sent(backend: Backend):
    row = message("run", "key-👍", body={"text": "ü" * 50_000})
    async with opened(backend) as store:
        await must(store, outside("run", inbox=[row]))
        assert await store.inbox(ALL, 10) == [row]
        assert await store.reply(RUN, "key-👍") is None


async def test_inputs_come_in_the_order_they_were_sent(backend: Backend):
    names = [f"key-{number}" for number in (5, 3, 9, 1, 7)]
    async with opened(backend) as store:
        await must(store, outside("run", inbox=[message("run", key) for key in names[:3]]))
        await must(store, *(outside("run", inbox=[message("run", key)]) for key in names[3:]))
        assert keys(await store.inbox(ALL, 10)) == names
        assert keys(await store.inbox(ALL, 2)) == names[:2]


async def test_what_a_run_is_to_hear_before_it_starts_comes_with_its_start_however_many_wait(backend: Backend):
    rows = [message("one", "~start"), message("two", "~start"), message("one", "cancel"), message("two", "cancel")]
    async with opened(backend) as store:
        for row in rows:
            await must(store, outside(row.run_id, inbox=[row]))
        found = [(row.run_id, row.key) for row in await store.inbox(ALL, 1)]
        assert found == [("one", "~start"), ("one", "cancel")]
        assert await store.inbox(ALL, 2) == rows


async def test_the_same_key_twice_is_one_input(backend: Backend):
    async with opened(backend) as store:
        await must(store, outside("run", inbox=[message("run", "key", body=1)]))
        twice = [message("run", "key", body=2), message("run", "other"), message("run", "other")]
        await must(store, outside("run", inbox=twice), outside("run", inbox=[message("run", "key", body=3)]))
        await must(store, outside("another", inbox=[message("another", "key", body=4)]))
        found = [(row.run_id, row.key, row.body) for row in await store.inbox(ALL, 10)]
        assert found == [("run", "key", b"1"), ("run", "other", b'"hi"'), ("another", "key", b"4")]


async def test_an_input_is_taken_with_its_reply(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, outside("run", inbox=[message("run", "ask"), message("run", "tell"), message("run", "wait")]))
        await must(store, owner.write("run", taken=[Taken("ask", b'{"ok":true}'), Taken("tell")]))
        assert keys(await store.inbox(ALL, 10)) == ["wait"]
        assert await store.reply(RUN, "ask") == Taken("ask", b'{"ok":true}')
        assert await store.reply(RUN, "tell") == Taken("tell", None)
        assert await store.reply(RUN, "wait") is None
        assert await store.reply(RUN, "unheard of") is None


async def test_a_taken_key_is_still_known(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, outside("run", inbox=[message("run", "key")]))
        await must(store, owner.write("run", taken=[Taken("key", b"1")]))
        await must(store, outside("run", inbox=[message("run", "key")]))
        assert await store.inbox(ALL, 10) == []
        assert await store.reply(RUN, "key") == Taken("key", b"1")


async def test_an_input_may_be_taken_now_and_answered_later(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, outside("run", inbox=[message("run", "ask"), message("run", "other")]))
        await must(store, owner.write("run", taken=[Taken("ask", later=True), Taken("other", later=True)]))
        assert await store.inbox(ALL, 10) == []
        assert await store.reply(RUN, "ask") is None
        await must(store, outside("run", inbox=[message("run", "ask", body=2)]))  # asked again, by who waits
        assert await store.inbox(ALL, 10) == []
        await must(store, owner.write("run", taken=[Taken("ask", b'"soon"')]))
        assert await store.reply(RUN, "ask") == Taken("ask", b'"soon"')
        assert await store.reply(RUN, "other") is None


async def test_an_answer_to_nobody_is_nothing(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", taken=[Taken("nobody", b"1")]))
        assert await store.reply(RUN, "nobody") is None
        await must(store, outside("run", inbox=[message("run", "nobody")]))
        assert keys(await store.inbox(ALL, 10)) == ["nobody"]


async def test_an_inbox_holds_what_is_for_the_shards_asked_for(backend: Backend):
    other = one_of_another_shard("run")
    async with opened(backend) as store:
        await must(store, outside(other, inbox=[message(other, str(number)) for number in range(5)]))
        await must(store, outside("run", inbox=[message("run", "mine")]))
        mine = [run_row("run").shard]
        assert keys(await store.inbox(mine, 3)) == ["mine"]
        assert keys(await store.inbox(set(mine), 3)) == ["mine"]
        assert await store.inbox([], 3) == []


async def test_a_message_with_a_fallback_reaches_a_run_that_runs(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "target")
        sent = [message("target", "1", fallback=dead_letter("run")), message("target", "2"), message("target", "3")]
        await must(store, owner.write("run", inbox=sent))
        assert keys(await store.inbox(ALL, 10)) == ["1", "2", "3"]
        assert await store.dead_letters(None) == []


async def test_a_message_to_an_unknown_or_ended_run_becomes_its_fallback(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "over")
        await must(store, owner.write("over", patch=ended()))
        lost = [dead_letter("run", "to-nobody"), dead_letter("run", "too-late")]
        sent = [message("nobody", fallback=lost[0]), message("over", fallback=lost[1]), message("over", "no fallback")]
        await must(store, owner.write("run", inbox=sent))
        assert keys(await store.inbox(ALL, 10)) == ["no fallback"]
        assert await store.dead_letters(None) == lost


async def test_a_run_that_ends_in_the_same_group_takes_no_more_messages(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "target")
        sender = owner.write("run", inbox=[message("target", fallback=dead_letter("run"))])
        await must(store, sender, owner.write("target", patch=ended()))
        assert await store.inbox(ALL, 10) == []
        assert await store.dead_letters(None) == [dead_letter("run")]


async def test_a_run_created_in_the_same_group_can_be_written_to(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        sender = owner.write("run", inbox=[message("target", fallback=dead_letter("run"))])
        await must(store, sender, outside("target", create=run_row("target")))
        assert keys(await store.inbox(ALL, 10)) == ["hello"]
