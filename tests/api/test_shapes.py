"""Every shape of the HTTP API is declared once, and a client reads everything that a server sends."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import httpx
import msgspec
import pytest

import plait.api
import plait.cli
import plait.client
from plait.api.problem import Problem
from plait.api.route import AnyRoute
from plait.api.shape import Body, Query, Shape
from tests.server.route_table import ROUTES
from tests.server.serving import Served, serving

STEP = {"id": "pour", "name": "Pour", "type": "script", "script": {"language": "ale", "script": "{:tea 1}"}}


def shapes_of(route: AnyRoute) -> Iterator[Any]:
    yield from (route.query, route.body, route.streams, *(reply.shape for reply in route.replies))


SHAPES = {
    shape
    for route in ROUTES
    for shape in shapes_of(route)
    if isinstance(shape, type) and issubclass(shape, msgspec.Struct)
}


def modules_of(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        yield importlib.import_module(found.name)


def structs_of(module: ModuleType) -> Iterator[type[msgspec.Struct]]:
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, msgspec.Struct) and value.__module__ == module.__name__:
            yield value


def test_routes_use_shapes_of_the_api_the_kernel_and_the_surfaces_and_definitions_of_dialects_only():
    strange = [shape for shape in SHAPES if not shape.__module__.startswith(("plait.api.", "plait.kernel."))]
    parts = {shape.__module__.removeprefix("plait.dialects.").split(".")[1] for shape in strange}
    assert parts == {"surface", "definition"}


@pytest.mark.parametrize("package", [plait.client, plait.cli], ids=lambda package: package.__name__)
def test_clients_declare_no_shape_of_their_own(package: ModuleType):
    own = [struct for module in modules_of(package) for struct in structs_of(module)]
    names = {shape.__name__ for shape in SHAPES}
    assert [struct for struct in own if struct.__name__ in names or issubclass(struct, Shape | Body | Query)] == []


def test_no_two_shapes_share_a_name_or_all_their_fields():
    declared = {struct for module in modules_of(plait.api) for struct in structs_of(module)} | SHAPES
    answers = [shape for shape in declared if issubclass(shape, Shape)]
    assert [name for name, count in Counter(shape.__name__ for shape in declared).items() if count > 1] == []
    fields = Counter(tuple((field.name, field.type) for field in msgspec.structs.fields(shape)) for shape in answers)
    assert [names for names, count in fields.items() if names and count > 1] == []


async def test_a_client_reads_every_field_that_a_server_sends():
    async with serving() as served:
        await make_world(served)
        read = [await read_back(served, route) for route in ROUTES if route.method == "GET" and can_read(route)]
        assert sum(read) >= 17
        same_after_reading(await served.get("/runs/nope"), Problem)


async def make_world(served: Served) -> None:
    await served.ended(await served.start("quick", {"customer": "Ann"}, id="done", labels={"a": "b"}))
    await served.ended(await served.start("failing", id="failed"), "failed")
    await served.start("asking", id="asking")
    await served.waits("asking", "approval")
    await served.post("/definitions", {"dialect": "goals", "definition": STEP})
    await served.post("/keys", {"name": "ci", "role": "viewer"})


IDS = {
    "runs.show": "failed",
    "runs.events": "done",
    "runs.timeline": "failed",
    "runs.agents": "done",
    "runs.logs": "done",
    "runs.diff": "done",
    "definitions.show": "order",
    "catalog.show": "pour",
    "approvals.show": "asking:teapot",
}


def can_read(route: AnyRoute) -> bool:
    shape = route.replies[0].shape
    return shape in SHAPES and ("{" not in route.path or route.name in IDS)


async def read_back(served: Served, route: AnyRoute) -> bool:
    path = route.full_path.replace("{id}", IDS.get(route.name, "")).replace("{name}", IDS.get(route.name, ""))
    answer = await served.client.get(path, params={"with": "failed"} if route.name == "runs.diff" else None)
    assert answer.status_code == 200, answer.text
    same_after_reading(answer, route.replies[0].shape)
    return True


def same_after_reading(answer: httpx.Response, shape: Any) -> None:
    """What was read says the same as what was sent: nothing is dropped, nothing is changed."""
    assert msgspec.to_builtins(msgspec.json.decode(answer.content, type=shape)) == answer.json()
