"""Children: made in their parent's commit. A taken id is a refusal the parent hears of; a repetition is nothing."""

from plait.kernel.ids import RunId
from tests.contract.stores.backends import Backend, opened
from tests.contract.stores.builders import ALL, child, create, keys, message, must, own_all, run_row


async def test_a_child_is_created_with_its_start(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        new = child("child", parent="run")
        await must(store, owner.write("run", children=[new]))
        assert await store.run(RunId("child")) == new.row
        assert await store.inbox(ALL, 10) == [new.start]


async def test_many_children_are_started_in_order(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        new = [child(f"child-{number}", parent="run", token=f"t{number}") for number in (3, 1, 2)]
        await must(store, owner.write("run", children=new))
        assert await store.inbox(ALL, 10) == [each.start for each in new]


async def test_a_child_whose_id_is_taken_is_refused(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "child", definition="someone else's")
        new = child("child", parent="run")
        await must(store, owner.write("run", children=[new, child("fine", parent="run", token="fine")]))
        assert await store.run(RunId("child")) == run_row("child", definition="someone else's")
        assert [(row.run_id, row.key) for row in await store.inbox(ALL, 10)] == [
            ("run", "refused:start-child"),
            ("fine", "start"),
        ]


async def test_a_child_of_another_task_of_the_same_parent_is_refused_too(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", children=[child("child", parent="run", token="first")]))
        await must(store, owner.write("run", children=[child("child", parent="run", token="second")]))
        assert keys(await store.inbox(ALL, 10)) == ["start", "refused:second"]


async def test_creating_the_same_child_again_changes_nothing(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        new = child("child", parent="run")
        await must(store, owner.write("run", children=[new]))
        await must(store, owner.write("run", children=[new]))
        assert await store.inbox(ALL, 10) == [new.start]


async def test_of_two_parents_that_want_one_id_in_one_group_the_first_gets_it(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        first, second = child("child", parent="a"), child("child", parent="b")
        await must(store, owner.write("a", children=[first]), owner.write("b", children=[second]))
        assert await store.run(RunId("child")) == first.row
        assert await store.inbox(ALL, 10) == [first.start, second.refusal]


async def test_what_a_parent_sends_its_new_child_comes_after_the_start(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        write = owner.write("run", children=[child("child", parent="run")], inbox=[message("child", "and then")])
        await must(store, write)
        assert keys(await store.inbox(ALL, 10)) == ["start", "and then"]
