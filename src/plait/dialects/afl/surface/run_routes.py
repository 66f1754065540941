"""Steps and AFL events of a run over HTTP."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from plait.api import route
from plait.api.noun import RUN
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.shape import Scoped, Shape
from plait.dialects.afl.language.source_file import SourceFile
from plait.dialects.afl.names import NAME
from plait.dialects.afl.running.details import AflDetails

from .records import EventList, ShownEvent, ShownStep, StepList, shown_event, shown_step

Call = route.Call[Any, Any, Any]
_Text = Annotated[str, Meta(max_length=200)]


class StepFilter(Scoped, frozen=True, kw_only=True):
    block_id: _Text | None = None
    container_id: _Text | None = None
    state: _Text | None = None


class RunSource(Shape, frozen=True, kw_only=True):
    language: str
    files: list[SourceFile]
    """The files when the run started; empty if the program was sent compiled."""


class EventFilter(Scoped, frozen=True, kw_only=True):
    state: _Text | None = None


async def steps(call: Call) -> Answer:
    query = call.query
    found = await call.host.afl.of(call.namespace).steps(
        call.params["id"], block_id=query.block_id, container_id=query.container_id, state=query.state
    )
    return Answer(StepList(steps=[shown_step(each) for each in found]))


async def step(call: Call) -> Answer:
    return Answer(shown_step(await call.host.afl.of(call.namespace).step(call.params["id"], call.params["step"])))


async def events(call: Call) -> Answer:
    found = await call.host.afl.of(call.namespace).events(call.params["id"], state=call.query.state)
    return Answer(EventList(events=[shown_event(each) for each in found]))


async def event(call: Call) -> Answer:
    return Answer(shown_event(await call.host.afl.of(call.namespace).event(call.params["id"], call.params["event"])))


async def source(call: Call) -> Answer:
    state = await call.host.afl.of(call.namespace).state(call.params["id"])
    return Answer(RunSource(language=NAME, files=[*state.start.sources]))


_NO_RUN = Fault(404, "AFL_NO_RUN", "The run is of another dialect.")


def _route(path: str, name: str, summary: str, handler: Any, shape: Any, query: Any, *faults: Fault) -> Any:
    return Route(
        method="GET",
        path=f"/afl/runs/{{id}}/{path}",
        name=f"afl.{name}",
        role="viewer",
        summary=summary,
        handler=handler,
        query=query,
        replies=(Reply(200, shape, "As stored."),),
        faults=(_NO_RUN, *faults),
        noun=RUN,
    )


ROUTES = (
    Route(
        method="GET",
        path="/runs/{id}/source",
        name="runs.source",
        role="viewer",
        summary="The source that a run was started with",
        handler=source,
        query=Scoped,
        replies=(Reply(200, RunSource, "The files of its program."),),
        faults=(_NO_RUN,),
        also=(AflDetails,),
        noun=RUN,
    ),
    _route("steps", "steps", "The steps of a run", steps, StepList, StepFilter),
    _route(
        "steps/{step}",
        "step",
        "One step of a run",
        step,
        ShownStep,
        Scoped,
        Fault(404, "AFL_NO_STEP", "There is no such step."),
    ),
    _route("events", "events", "The AFL events of a run", events, EventList, EventFilter),
    _route(
        "events/{event}",
        "event",
        "One AFL event of a run",
        event,
        ShownEvent,
        Scoped,
        Fault(404, "AFL_NO_EVENT", "There is no such event."),
    ),
)
