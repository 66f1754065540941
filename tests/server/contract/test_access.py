"""Every operation of the OpenAPI document, called by everyone: who may, may; who may not learns nothing.

The calls go to things that exist, in a namespace of their own for each operation, so that a refusal that came from
a missing id can't pass for one of the door.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx

from plait.api.caller import Role
from plait.server.auth import AuthOptions
from plait.server.site import Settings
from tests.server.auth.test_roles import forbidden
from tests.server.serving import Served, problem, serving, soon

from .asks import ASKS, Operation, operations
from .world import World, key_header, make_world

ROLES: tuple[Role, ...] = ("viewer", "operator", "editor", "approver", "worker", "agent", "admin")
ALLOWED: dict[str, set[Role]] = {
    "any": set(ROLES) - {"agent"},
    "viewer": {"viewer", "operator", "editor", "approver", "admin"},
    "operator": {"operator", "editor", "admin"},
    "editor": {"editor", "admin"},
    "approver": {"approver", "admin"},
    "worker": {"worker", "admin"},
    "agent": {"agent", "admin"},
    "admin": {"admin"},
}
"""Who may do what a role is needed for, as the documentation says: written out here a second time on purpose."""
ID = {"x-request-id": "same"}
THEIRS = "t2hnq"
"""A namespace whose name stands nowhere by chance."""


@asynccontextmanager
async def locked() -> AsyncGenerator[tuple[Served, list[Operation]]]:
    settings, options = Settings(open=False), AuthOptions(wrong_keys=1_000_000)
    async with serving(settings=settings, options=options) as served:
        document = (await served.get("/openapi.json")).json()
        yield served, operations(document)


async def call(
    served: Served, operation: Operation, world: World, headers: dict[str, str], **params: str
) -> httpx.Response:
    query = operation.ask.query(world) | params
    return await served.client.request(
        operation.method,
        operation.target(world),
        params=query,
        json=operation.body(world) if operation.ask.body is not None else None,
        headers=ID | headers,
    )


async def header(served: Served, role: Role, operation: Operation, world: World) -> dict[str, str]:
    return await key_header(served.site, "*" if operation.ask.everywhere else world.namespace, role)


def guarded(found: list[Operation]) -> list[Operation]:
    return [operation for operation in found if operation.role != "public"]


# -- the table ------------------------------------------------------------------------------------------------------


async def test_every_operation_is_in_the_table_and_says_whom_it_is_for():
    async with locked() as (_, found):
        assert {operation.name for operation in found} == set(ASKS)
        assert {operation.role for operation in found} <= {*ALLOWED, "public"}
        public = {operation.name for operation in found if operation.role == "public"}
        assert public == {
            "callbacks.report",
            "hooks.call",
            "links.show",
            "links.answer",
            "session.sign_in",
            "server.health",
            "server.ready",
            "server.openapi",
        }


# -- who may --------------------------------------------------------------------------------------------------------


async def test_each_role_may_do_what_it_is_for_and_nothing_else():
    done = refused = 0
    async with locked() as (served, found):
        for number, operation in enumerate(guarded(found)):
            world = await make_world(served.site, f"own{number}")
            for role in sorted(set(ROLES) - ALLOWED[operation.role]):
                answer = await call(served, operation, world, await header(served, role, operation, world))
                problem(answer, 403, forbidden(role))
                assert no_leak(answer, world), operation
                refused += 1
            for nth, role in enumerate(sorted(ALLOWED[operation.role])):
                if nth:  # the first finds all as those left it who may not
                    world = await make_world(served.site, f"own{number}-{role}")
                answer = await call(served, operation, world, await header(served, role, operation, world))
                assert answer.status_code == operation.ask.status, f"{operation} for {role}: {answer.text}"
                done += 1
    assert done >= 120
    assert refused >= 70


async def test_public_operations_need_no_key():
    async with locked() as (served, found):
        for number, operation in enumerate(found):
            if operation.role == "public":
                world = await make_world(served.site, f"open{number}")
                answer = await call(served, operation, world, {})
                assert answer.status_code == operation.ask.status, f"{operation}: {answer.text}"


# -- who may not ----------------------------------------------------------------------------------------------------


async def test_without_a_good_key_there_is_nothing_whether_it_exists_or_not():
    async with locked() as (served, found):
        world = await make_world(served.site, THEIRS)
        nothing = missing_of(world)
        bad = {
            "auth.no_key": {},
            "auth.bad_key": await revoked(served, world),
            "auth.expired": await expired(served, world),
        }
        for operation in guarded(found):
            for code, headers in bad.items():
                answer = await call(served, operation, world, headers)
                problem(answer, 401, code)
                assert answer.content == (await call(served, operation, nothing, headers)).content
                assert no_leak(answer, world), operation


async def revoked(served: Served, world: World) -> dict[str, str]:
    key, text = await served.site.auth.keys.create("gone", "admin", world.namespace)
    await served.site.auth.keys.revoke(key.id)
    return {"Authorization": f"Bearer {text}"}


async def expired(served: Served, world: World) -> dict[str, str]:
    _, text = await served.site.auth.keys.create("old", "admin", world.namespace, expires_in=0.001)
    headers = {"Authorization": f"Bearer {text}"}

    async def is_over() -> bool:
        return (await served.get("/me", headers=headers)).status_code == 401

    await soon(is_over)
    return headers


async def test_what_is_anothers_is_as_if_it_were_not_there():
    """With the same bytes, for an administrator of another namespace, with and without the name of theirs."""
    compared = 0
    async with locked() as (served, found):
        theirs, ours = await make_world(served.site, THEIRS), await make_world(served.site, "ours")
        nothing = missing_of(theirs)
        key = await key_header(served.site, "ours")
        for operation in guarded(found):
            if not operation.names_something:
                continue
            stated = [{"namespace": THEIRS}] if operation.scoped else []
            # Code is loaded for all, a text is named by its content, whoever saves a schedule makes one of his own, and
            # every namespace has queues of all names
            shared = operation.path.startswith(("/api/v1/definitions", "/api/v1/blobs", "/api/v1/queues"))
            shared = shared or operation.name == "schedules.save"
            unstated = [] if shared else [{}]
            for params in [*unstated, *stated]:
                foreign = await call(served, operation, theirs, key, **params)
                absent = await call(served, operation, nothing, key, **params)
                assert foreign.status_code == absent.status_code == 404, f"{operation}: {foreign.text}"
                assert alike(foreign, theirs) == alike(absent, nothing), operation
                assert no_leak(foreign, theirs), operation
                compared += 1
        assert await untouched(served, theirs)
        assert (await call(served, by_name(found, "runs.show"), ours, key)).status_code == 200
    assert compared >= 35


async def test_a_foreign_run_is_not_there_for_those_who_watch_or_compare_either():
    async with locked() as (served, found):
        theirs, ours = await make_world(served.site, THEIRS), await make_world(served.site, "ours")
        key = await key_header(served.site, "ours")
        watch = key | ID | {"accept": "text/event-stream"}
        bodies = [
            (await served.get(f"/runs/{id}/events", headers=watch)).text.replace(id, "ID")
            for id in (theirs.running, missing_of(theirs).running)
        ]
        assert bodies[0] == bodies[1]
        diff = by_name(found, "runs.diff")
        bodies = [
            (await call(served, diff, ours, key, **{"with": id})).text.replace(id, "ID")
            for id in (theirs.running, missing_of(theirs).running)
        ]
        assert bodies[0] == bodies[1]
        assert "kernel.no_run" in bodies[0]


async def test_collections_hold_nothing_of_others_and_refuse_their_names():
    asked = 0
    async with locked() as (served, found):
        theirs, ours = await make_world(served.site, THEIRS), await make_world(served.site, "ours")
        key = await key_header(served.site, "ours")
        for operation in guarded(found):
            if operation.names_something or operation.ask.everywhere:
                continue
            answer = await call(served, operation, ours, key)
            assert answer.status_code == operation.ask.status
            assert no_leak(answer, theirs), operation
            asked += 1
            if operation.scoped:
                refusals = [await call(served, operation, ours, key, namespace=name) for name in (THEIRS, "nowhere")]
                problem(refusals[0], 403, "auth.wrong_namespace")
                assert refusals[0].text.replace(THEIRS, "X") == refusals[1].text.replace("nowhere", "X")
    assert asked >= 12


async def test_filters_and_bodies_do_not_reach_into_other_namespaces():
    async with locked() as (served, _):
        theirs = await make_world(served.site, THEIRS)
        key = await key_header(served.site, "ours")
        for path, params in (
            ("/runs", {"parent": theirs.running}),
            ("/runs", {"q": THEIRS}),
            ("/approvals", {"run": theirs.running}),
            ("/dlq", {"run": theirs.failed, "status": "all"}),
        ):
            answer = await served.get(path, params=params, headers=key)
            assert answer.status_code == 200
            assert [value for value in answer.json().values() if value] == []
        start: dict[str, Any] = {"definition": "quick", "input": {"customer": "Ann"}, "namespace": THEIRS}
        problem(await served.post("/runs", start, headers=key), 403, "auth.wrong_namespace")
        spare = {"name": "x", "role": "viewer", "namespace": THEIRS}
        problem(await served.post("/keys", spare, headers=key), 403, "auth.wrong_namespace")
        same_id = start | {"namespace": None, "id": theirs.ended}
        assert (await served.post("/runs", same_id, headers=key)).status_code == 201  # an id is taken in one namespace


# -- what is looked at ----------------------------------------------------------------------------------------------


def missing_of(world: World) -> World:
    """The same ids, with their ends changed: nobody has them."""
    changed = {
        name: id[:-1] + ("0" if id[-1] != "0" else "1")
        for name in ("running", "ended", "failed", "approval", "letter", "key", "definition", "version", "tag", "step")
        if (id := getattr(world, name))
    }
    return replace(world, **changed)


def alike(answer: httpx.Response, world: World) -> str:
    """The whole answer, without its time and the ids that the caller sent himself."""
    headers = [(name, value) for name, value in answer.headers.items() if name != "date"]  # two answers, two seconds
    text = str(sorted(headers)) + answer.text
    for id in sorted({*world.names, world.definition, world.version}, key=len, reverse=True):
        if id in str(answer.request.url) or id in httpx.URL(answer.request.url).path:
            text = text.replace(id, "ID")
    return text


def no_leak(answer: httpx.Response, world: World) -> bool:
    """Nothing of that world is in the answer that the caller did not say himself."""
    sent = f"{answer.request.url} {answer.request.url.path} {answer.request.content.decode()}"
    text = answer.text + str(answer.headers)
    return not [name for name in world.names if name not in sent and name in text]


def by_name(found: list[Operation], name: str) -> Operation:
    return next(operation for operation in found if operation.name == name)


async def untouched(served: Served, world: World) -> bool:
    """What the others have is as it was."""
    engine = served.engine
    statuses = [await (await engine.get(id, world.namespace)).status() for id in (world.running, world.ended)]
    [letter] = await engine.dlq.list(world.namespace)
    keys = {key.id: key.revoked_at for key in await served.site.auth.keys.list(world.namespace)}
    tags = (await engine.definitions.get(world.definition, world.namespace)).tags
    asked = [approval.id for approval in await engine.approvals.list(world.namespace)]
    return (statuses, letter.id, keys[world.key], list(tags), asked) == (
        ["running", "completed"],
        world.letter,
        None,
        [world.tag],
        [world.approval],
    )
