"""Namespaces: the same id in two of them is two runs, and neither sees the other."""

import pytest

from plait import Context, workflow
from plait.errors import InvalidInput, NotFound
from plait.kernel.store import RunFilter
from tests.engine.flows import approval, echo, listener, mother, parent
from tests.engine.places import Place, soon


async def test_the_same_id_in_two_namespaces_is_two_runs(place: Place):
    async with place.engine() as engine:
        ours = await engine.start(listener, id="o-1", namespace="acme")
        theirs = await engine.start(listener, id="o-1", namespace="other")
        default = await engine.start(listener, id="o-1")
        assert ours.id == theirs.id == default.id == "o-1"
        await ours.message("go", "ours")
        await theirs.message("go", "theirs")
        assert await ours.result() == "ours"
        assert await theirs.result() == "theirs"
        assert await default.status() == "running"


async def test_a_run_of_another_namespace_looks_as_if_it_were_not_there(place: Place):
    async with place.engine() as engine:
        await engine.start(listener, id="secret", namespace="acme")
        for namespace in ("default", "other"):
            with pytest.raises(NotFound) as caught:
                await engine.get("secret", namespace=namespace)
            assert "acme" not in str(caught.value)
        with pytest.raises(InvalidInput):
            await engine.get("acme/secret")


@pytest.mark.parametrize("namespace", ["", "Acme", "a/b", "a b", "é", "\0", "a" * 64])
async def test_a_namespace_that_can_not_be_used_is_refused(place: Place, namespace: str):
    async with place.engine() as engine:
        with pytest.raises(InvalidInput):
            await engine.start(echo, 1, namespace=namespace)


async def test_children_stay_in_the_namespace_of_their_parent(place: Place):
    async with place.engine(parent, echo) as engine:
        assert await (await engine.start(parent, 7, id="p", namespace="acme")).result() == 7
        assert await (await engine.get("kid", namespace="acme")).result() == 7
        with pytest.raises(NotFound):
            await engine.get("kid")
        rows = await engine.runs(RunFilter(namespace="acme"))
        assert {row.namespace for row in rows} == {"acme"}
        assert len(rows) == 2


async def test_a_child_id_that_is_taken_in_another_namespace_is_free_in_ours(place: Place):
    async with place.engine(mother, listener) as engine:
        theirs = await engine.start(listener, id="kid", namespace="other")
        ours = await engine.start(mother, id="mum", namespace="acme")
        kid = await soon(lambda: engine.get("kid", namespace="acme"))
        await kid.message("go", "ours")
        assert await ours.result() == "ours"
        assert await theirs.status() == "running"


async def test_a_message_between_runs_stays_in_their_namespace(place: Place):
    @workflow
    async def teller(ctx: Context) -> None:
        await ctx.send("tell", "o-1", "go", "hello")

    async with place.engine(teller, listener) as engine:
        ours = await engine.start(listener, id="o-1", namespace="acme")
        theirs = await engine.start(listener, id="o-1")
        await (await engine.start(teller, namespace="acme")).result()
        assert await ours.result() == "hello"
        assert await theirs.status() == "running"


async def test_what_people_are_asked_is_listed_by_namespace(place: Place):
    async with place.engine(approval) as engine:
        run = await engine.start(approval, "boss", id="a-1", namespace="acme")
        asked = await soon(lambda: engine.approvals.list("acme"))
        assert await engine.approvals.list() == []
        with pytest.raises(NotFound):
            await engine.approvals.decide(asked[0].id, "approve")
        await engine.approvals.decide(asked[0].id, "approve", namespace="acme")
        assert (await run.result())["decision"] == "approve"


async def test_a_fork_stays_in_its_namespace(place: Place):
    async with place.engine(echo) as engine:
        run = await engine.start(echo, 5, id="o-1", namespace="acme")
        await run.result()
        forked = await run.fork(at=1, id="o-2")
        assert await forked.result() == 5
        assert (await forked.row()).namespace == "acme"
        with pytest.raises(NotFound):
            await engine.get("o-2")
