"""Handlers of a namespace over HTTP: addresses, child runs and queues. Functions come from configuration only."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from msgspec import Meta

from plait.api import route
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.shape import Body, Scoped, Shape
from plait.dialects.afl.handlers import ChildTarget, Registration, Target, binding_of, http, queue
from plait.dialects.afl.stored_handlers import HANDLER, StoredHandler
from plait.kernel.bundle import Reference
from plait.kernel.errors import InvalidInput
from plait.kernel.queue_options import QUEUEING_FIELDS, flaw
from plait.kernel.retry import Retry

Call = route.Call[Any, Any, Any]
_Name = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_.]{0,199}\Z")]


class NewHandler(Body, frozen=True, kw_only=True):
    facet: _Name
    """Qualified or short."""
    kind: Literal["http", "child", "queue"]
    url: Annotated[str, Meta(max_length=2_000)] = ""
    queue: Annotated[str, Meta(max_length=200)] = ""
    """The queue whose workers handle it; for a child, the queue where it waits for a slot."""
    priority: int | None = None
    partition: Annotated[str, Meta(max_length=400)] = ""
    dedup_id: Annotated[str, Meta(max_length=400)] = ""
    delay_ms: Annotated[int, Meta(ge=0)] | None = None
    dialect: Annotated[str, Meta(max_length=40)] = ""
    definition: Any = None
    """For a child: `name`, `name@version`, or the definition itself."""
    timeout_ms: Annotated[int, Meta(ge=1, le=86_400_000)] | None = None
    max_attempts: Annotated[int, Meta(ge=1, le=1_000)] = 1
    backoff_ms: Annotated[int, Meta(ge=0, le=86_400_000)] = 200
    compensate: Annotated[str, Meta(max_length=200)] = ""


class ShownHandler(Shape, frozen=True, kw_only=True):
    facet: str
    kind: str
    url: str = ""
    queue: str = ""
    priority: int | None = None
    partition: str = ""
    dedup_id: str = ""
    delay_ms: int | None = None
    dialect: str = ""
    definition: Any = None
    max_attempts: int = 1
    compensate: str = ""
    local: bool = False
    """Whether it comes from the code of this process."""


class HandlerList(Shape, frozen=True, kw_only=True):
    handlers: list[ShownHandler]


async def list_handlers(call: Call) -> Answer:
    stored = await call.host.afl.stored.of(call.namespace)
    kept = [_shown(each) for each in stored.values()]
    own = [_shown(StoredHandler(each.name, binding_of(each)), local=True) for each in call.host.afl.handlers]
    return Answer(HandlerList(handlers=[*own, *kept]))


async def put(call: Call) -> Answer:
    body: NewHandler = call.body
    cap = max(30.0, body.backoff_ms / 1000)
    retry = Retry(max_attempts=body.max_attempts, first=body.backoff_ms / 1000, cap=cap)
    timeout = None if body.timeout_ms is None else body.timeout_ms / 1000
    found = Registration(body.facet, _target(body), timeout, retry, body.compensate)
    handler = StoredHandler(body.facet, binding_of(found))
    await call.host.afl.stored.put(handler, call.namespace)
    return Answer(_shown(handler))


async def remove(call: Call) -> Answer:
    await call.host.afl.stored.remove(call.params["facet"], call.namespace)
    return Answer(None, 204)


def _target(body: NewHandler) -> Target:
    match body.kind:
        case "http":
            return http(body.url)
        case "queue":
            return queue(body.queue)
        case "child":
            definition: Any = body.definition
            if not isinstance(definition, str | dict):
                raise InvalidInput("AFL_HANDLER", "a child needs a definition", fix="give its name, or the definition")
            return ChildTarget(Reference(body.dialect, cast("Any", definition), body.facet), _queueing(body))


def _queueing(body: NewHandler) -> dict[str, Any]:
    """The queue options of a child."""
    found = {name: value for name in QUEUEING_FIELDS if (value := getattr(body, name)) not in ("", None)}
    if problem := flaw(found):
        raise InvalidInput(
            "AFL_HANDLER", f"the child can't be queued so: {problem}", fix="name a queue that it waits on"
        )
    return found


def _shown(found: StoredHandler, *, local: bool = False) -> ShownHandler:
    binding = found.binding
    return ShownHandler(
        facet=found.name,
        kind=binding.kind,
        url=binding.url,
        queue=binding.name if binding.kind == "queue" else binding.queueing.get("queue", ""),
        priority=binding.queueing.get("priority"),
        partition=binding.queueing.get("partition", ""),
        dedup_id=binding.queueing.get("dedup_id", ""),
        delay_ms=binding.queueing.get("delay_ms"),
        dialect=binding.dialect,
        definition=binding.definition,
        max_attempts=binding.max_attempts,
        compensate=binding.compensate,
        local=local,
    )


ROUTES = (
    Route(
        method="GET",
        path="/afl/handlers",
        name="afl.handlers.list",
        role="viewer",
        summary="The handlers of the namespace's AFL events",
        handler=list_handlers,
        query=Scoped,
        replies=(Reply(200, HandlerList, "Those of this server's code first."),),
    ),
    Route(
        method="POST",
        path="/afl/handlers",
        name="afl.handlers.put",
        role="editor",
        summary="Register an address, a child run or a queue for a facet, for runs that start from now on",
        handler=put,
        query=Scoped,
        body=NewHandler,
        replies=(Reply(200, ShownHandler, "Registered."),),
        faults=(Fault(422, "AFL_HANDLER", "The address, queue or definition can't be used."),),
        example={"facet": "mail.Send", "kind": "http", "url": "https://mail.example/send"},
    ),
    Route(
        method="DELETE",
        path="/afl/handlers/{facet}",
        name="afl.handlers.remove",
        role="editor",
        summary="Remove a handler",
        handler=remove,
        query=Scoped,
        replies=(Reply(204, None, "Removed."),),
        noun=HANDLER,
    ),
)
