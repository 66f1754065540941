"""Schedules: save, list, show, pause, resume, trigger, backfill, delete; and preview the next times."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from plait.api.route import Answer, AnyRoute, Fault, Handler, Reply, Route
from plait.api.schedule import (
    BackfillSchedule,
    BackfillStarted,
    FirePage,
    ListFires,
    ListSchedules,
    NextTimes,
    PreviewSchedule,
    SaveSchedule,
    Schedule,
    SchedulePage,
    SetSchedule,
    Triggered,
    TriggerSchedule,
)
from plait.api.shape import Body, Deleted, Scoped
from plait.kernel.errors import InvalidInput, NotFound
from plait.kernel.ids import Millis

from .call import Call
from .nouns import SCHEDULE
from .pii import HIDDEN
from .quotas import check_labels
from .site import Site

_BAD_CRON = Fault(422, "schedule.bad_cron", "The cron expression can't be read.")
_BAD_ZONE = Fault(422, "schedule.unknown_time_zone", "There is no such time zone.")


async def list_schedules(call: Call[ListSchedules, None]) -> Answer:
    query = call.query
    found = await call.host.engine.schedules.list(call.namespace, after=query.cursor, limit=query.limit + 1)
    page = found[: query.limit]
    return Answer(SchedulePage(schedules=page, next=page[-1].name if len(found) > query.limit else None))


async def show(call: Call[Scoped, None]) -> Answer:
    return Answer(await call.host.engine.schedules.get(call.params["name"], call.namespace))


async def fires(call: Call[ListFires, None]) -> Answer:
    found = await call.host.engine.schedules.fires(call.params["name"], call.namespace, limit=call.query.limit)
    return Answer(FirePage(fires=found))


async def save(call: Call[SaveSchedule, SetSchedule]) -> Answer:
    name, body, schedules = call.params["name"], call.body, call.host.engine.schedules
    check_labels(body.labels)
    if HIDDEN.encode() in msgspec.json.encode((body.input, body.definition)):
        raise InvalidInput(
            "schedule.hidden_input",
            "the input has values that were hidden from you",
            why="to save it would put the placeholder in their place",
            fix="write the values themselves, or ask someone with the right pii:read",
        )
    try:
        await schedules.get(name, call.namespace, times=1)
        created = False
    except NotFound:
        created = True
    made = await schedules.save(name, body, call.namespace, new=call.query.new, check=body.check)
    return Answer(made, 201 if created else 200)


async def delete(call: Call[Scoped, None]) -> Answer:
    await call.host.engine.schedules.delete(call.params["name"], call.namespace)
    return Answer(Deleted(name=call.params["name"]))


async def preview(call: Call[Scoped, PreviewSchedule]) -> Answer:
    body = call.body
    every = None if body.every_ms is None else body.every_ms / 1000
    after = None if body.after is None else _time(body.after)
    times = await call.host.engine.schedules.preview(body.cron, every, body.tz, after=after, count=body.count)
    return Answer(NextTimes(times=times))


async def pause(call: Call[Scoped, Body]) -> Answer:
    return Answer(await call.host.engine.schedules.pause(call.params["name"], call.namespace))


async def resume(call: Call[Scoped, Body]) -> Answer:
    return Answer(await call.host.engine.schedules.resume(call.params["name"], call.namespace))


async def trigger(call: Call[Scoped, TriggerSchedule]) -> Answer:
    overlap = call.body.overlap
    return Answer(await call.host.engine.schedules.trigger(call.params["name"], call.namespace, overlap=overlap), 202)


async def backfill(call: Call[Scoped, BackfillSchedule]) -> Answer:
    body = call.body
    since, until = _time(body.since), _time(body.until)
    name, namespace = call.params["name"], call.namespace
    return Answer(await call.host.engine.schedules.backfill(name, since, until, namespace, overlap=body.overlap), 202)


def _time(at: Millis) -> datetime:
    try:
        return datetime.fromtimestamp(at / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        raise InvalidInput(
            "schedule.bad_settings", f"{at} is no time", fix="send milliseconds since 1970, before the year 9999"
        ) from None


def _action(
    verb: str, summary: str, handler: Handler[Site, Scoped, Any], body: type[Any], reply: Reply, *faults: Fault
) -> AnyRoute:
    return Route(
        method="POST",
        path=f"/schedules/{{name}}/{verb}",
        name=f"schedules.{verb}",
        role="operator",
        summary=summary,
        handler=handler,
        query=Scoped,
        body=body,
        body_optional=verb != "backfill",
        replies=(reply,),
        faults=faults,
        noun=SCHEDULE,
        example={"since": 1794960000000, "until": 1794974400000} if verb == "backfill" else {},
    )


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        method="GET",
        path="/schedules",
        name="schedules.list",
        role="viewer",
        summary="List schedules by name, each with its next time",
        handler=list_schedules,
        query=ListSchedules,
        replies=(Reply(200, SchedulePage, "A page of schedules."),),
    ),
    Route(
        method="POST",
        path="/schedule-preview",
        name="schedules.preview",
        role="viewer",
        summary="The next times of a schedule, before it is saved",
        handler=preview,
        query=Scoped,
        body=PreviewSchedule,
        replies=(Reply(200, NextTimes, "The times."),),
        faults=(_BAD_CRON, _BAD_ZONE, Fault(422, "schedule.bad_timing", "It has neither cron nor interval, or both.")),
        audited=False,
        example={"cron": "30 9 * * MON-FRI", "tz": "Europe/Berlin"},
    ),
    Route(
        method="PUT",
        path="/schedules/{name}",
        name="schedules.save",
        role="operator",
        summary="Save a schedule, replacing the one of that name",
        handler=save,
        query=SaveSchedule,
        body=SetSchedule,
        replies=(
            Reply(201, Schedule, "The schedule is new."),
            Reply(200, Schedule, "It has these settings now. If its times changed, they count from now."),
        ),
        faults=(
            Fault(404, "CODE_NOT_LOADED", "No definition of that name is loaded."),
            Fault(409, "schedule.exists", "There is one of that name, and `new` was asked for."),
            _BAD_CRON,
            _BAD_ZONE,
            Fault(422, "schedule.bad_timing", "It has neither cron nor interval, or both."),
            Fault(422, "schedule.bad_settings", "A setting can't be used."),
            Fault(422, "schedule.hidden_input", "The input has the placeholder for values that were hidden."),
        ),
        noun=SCHEDULE,
        example={
            "definition": "order",
            "input": {"customer": "Ann"},
            "cron": "30 9 * * MON-FRI",
            "tz": "Europe/Berlin",
        },
    ),
    Route(
        method="GET",
        path="/schedules/{name}",
        name="schedules.show",
        role="viewer",
        summary="Show a schedule, with its next ten times",
        handler=show,
        query=Scoped,
        replies=(Reply(200, Schedule, "The schedule."),),
        noun=SCHEDULE,
    ),
    Route(
        method="GET",
        path="/schedules/{name}/fires",
        name="schedules.fires",
        role="viewer",
        summary="Outcomes of a schedule's times, newest first",
        handler=fires,
        query=ListFires,
        replies=(Reply(200, FirePage, "The newest ones."),),
        noun=SCHEDULE,
    ),
    Route(
        method="DELETE",
        path="/schedules/{name}",
        name="schedules.delete",
        role="operator",
        summary="Delete a schedule; its runs continue",
        handler=delete,
        query=Scoped,
        replies=(Reply(200, Deleted, "Deleted."),),
        noun=SCHEDULE,
    ),
    _action("pause", "Pause a schedule", pause, Body, Reply(200, Schedule, "The schedule.")),
    _action("resume", "Resume a schedule, from now on", resume, Body, Reply(200, Schedule, "The schedule.")),
    _action(
        "trigger",
        "Start a run of a schedule now",
        trigger,
        TriggerSchedule,
        Reply(202, Triggered, "The request is durable."),
        Fault(409, "schedule.overlap", "The run before has not ended."),
    ),
    _action(
        "backfill",
        "Start runs for past times",
        backfill,
        BackfillSchedule,
        Reply(202, BackfillStarted, "The request is durable."),
        Fault(422, "schedule.nothing_to_backfill", "The range has none of its times."),
        Fault(422, "schedule.backfill_too_long", "The range has more than 10,000 of its times."),
    ),
)
