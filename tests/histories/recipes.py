"""How each stored history came about. A recipe plays one in a simulation, and gives the run to store."""

from collections.abc import Awaitable, Callable

from plait import Context, workflow
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.inputs import TaskResult
from plait.kernel.values import encode
from plait.testing import Sim, SimRun, StuckError, sim
from plait.workers.notice_settings import NoticeSettings

from . import flows
from .flows import DAY, World

Recipe = Callable[[Sim], Awaitable[SimRun]]


async def everything(s: Sim) -> SimRun:
    run = await s.start(flows.everything, 3, id="everything", deadline=90 * DAY, labels={"team": "tea"})
    await s.clock.advance(2 * DAY)
    for number in range(3):
        await run.message("word", f"word {number}", id=f"word-{number}")
    await s.clock.advance(DAY)
    await s.engine.approvals.decide("everything:ok", "approve", by="boss", comment="fine")
    await s.result(run)
    return run


async def countersigned(s: Sim) -> SimRun:
    run = await s.start(flows.countersigned, id="countersigned")
    await s.settle()
    await s.engine.approvals.decide("countersigned:sign", "approve", by="ada", comment="fine")
    await s.clock.advance(DAY)
    await s.engine.approvals.decide("countersigned:sign", "approve", by="cleo", data={"limit": 5})
    return await _ended(s, run)


async def chatting(s: Sim) -> SimRun:
    return await _ended(s, await s.start(flows.chatting, id="chatting"))


async def rolled_back(s: Sim) -> SimRun:
    return await _ended(s, await s.start(flows.regretted, id="rolled-back"))


async def rolled_back_with_child(s: Sim) -> SimRun:
    return await _ended(s, await s.start(flows.regretted_with_child, id="rolled-back-with-child"))


async def stuck_in_rollback(s: Sim) -> SimRun:
    run = await s.start(flows.stuck_in_rollback, id="stuck")
    await _until_nothing_happens(s, run)
    await s.engine.dlq.discard("stuck:~undo/harder")
    await _until_nothing_happens(s, run)
    World.mended = True
    await s.engine.dlq.retry("stuck:~undo/hard")
    return await _ended(s, run)


async def cancelled(s: Sim) -> SimRun:
    run = await s.start(flows.patient, id="cancelled")
    await s.settle()
    await run.cancel("enough")
    return await _ended(s, run)


async def cancelled_and_undone(s: Sim) -> SimRun:
    run = await s.start(flows.patient, id="cancelled-and-undone", namespace="tea")
    await s.settle()
    await run.cancel("enough", compensate=True)
    return await _ended(s, run)


async def past_its_deadline(s: Sim) -> SimRun:
    return await _ended(s, await s.start(flows.patient, id="past-its-deadline", deadline=DAY))


async def retried(s: Sim) -> SimRun:
    run = await _ended(s, await s.start(flows.mendable, id="retried"))
    World.mended = True
    await run.retry()
    return await _ended(s, run)


async def rewound(s: Sim) -> SimRun:
    World.mended = True
    run = await _ended(s, await s.start(flows.mendable, id="rewound"))
    await run.rewind("mend")
    return await _ended(s, run)


async def forked(s: Sim) -> SimRun:
    World.mended = True
    run = await _ended(s, await s.start(flows.mendable, id="original"))
    handle = await s.engine.get(run.id)
    fork = await handle.fork("after", edits={"mend": "mended by hand"}, id="forked")
    return await _ended(s, SimRun(s, fork.id, "default"))


async def late(s: Sim) -> SimRun:
    run = await s.start(flows.lossy, id="late")
    await s.clock.advance(0.3)
    stale = TaskResult(TaskToken("race/lucky/lucky"), 1, encode("too late"))
    s.engine.kernel.dispatcher.report(RunId("late"), stale)
    return await _ended(s, run)


async def blocked_for_a_while(s: Sim) -> SimRun:
    run = await s.start(flows.changed, id="blocked")
    await s.settle()
    await s.engine.kernel.crash()
    await s.store.release(s.engine.kernel.owner)

    @workflow(name="changed")
    async def broken(ctx: Context) -> int:
        await ctx.sleep("nap", DAY)
        return 0

    async with sim([broken], store=s.store) as other:
        await other.settle()
        await other.clock.advance(DAY)
    await s.crash()
    return await _ended(s, run)


async def bulky(s: Sim) -> SimRun:
    return await _ended(s, await s.start(flows.bulky, "x" * 1_500, id="bulky"))


async def queued(s: Sim) -> SimRun:
    run = await s.start(flows.printed, 7, id="queued")
    await s.settle()
    [task] = await s.engine.queues.claim("printer", ["gpu"])
    await s.engine.queues.complete(task.id, "page 7")
    return await _ended(s, run)


async def rejected(s: Sim) -> SimRun:
    run = await s.start(flows.printed, 7, id="rejected")
    await s.settle()
    [task] = await s.engine.queues.claim("printer", ["gpu"])
    await s.engine.queues.reject(task.id, "forged")
    await s.settle()
    await s.engine.queues.complete(task.id, "page 7")
    return await _ended(s, run)


async def delegated(s: Sim) -> SimRun:
    # People get mails where there is a server for them, which is gone when the first is to be sent
    mails = NoticeSettings(mail="smtp://127.0.0.1?from=plait@example.com&domain=example.com")
    s.engine.kernel.loader._notify = mails.notices
    run = await s.start(flows.delegated, id="delegated")
    await s.settle()
    await s.engine.approvals.delegate("delegated:sign", "bob", by="ada", comment="on leave")
    await s.settle()
    await s.engine.approvals.decide("delegated:sign", "approve", by="bob")
    return await _ended(s, run)


async def advised(s: Sim) -> SimRun:
    """An agent that is denied a tool, waits for a person and for its model, and answers."""
    run = await s.start(flows.advised, id="advised")
    await s.settle()
    [asked] = await s.engine.approvals.list()
    await s.engine.approvals.decide(asked.id, "approve", by="boss")
    return await _ended(s, run)


async def tallied(s: Sim) -> SimRun:
    """Updates, published values, and a run that continues as new."""
    run = await s.start(flows.tallied, 0, id="tallied")
    for number in (3, 4):
        await run.update("add", number, id=f"add-{number}")
        await run.message("enough")
        await s.settle()
    return await _ended(s, run)


RECIPES: dict[str, Recipe] = {
    "everything": everything,
    "countersigned": countersigned,
    "chatting": chatting,
    "rolled-back": rolled_back,
    "rolled-back-with-child": rolled_back_with_child,
    "stuck-in-rollback": stuck_in_rollback,
    "cancelled": cancelled,
    "cancelled-and-undone": cancelled_and_undone,
    "past-its-deadline": past_its_deadline,
    "retried": retried,
    "rewound": rewound,
    "forked": forked,
    "late": late,
    "blocked-for-a-while": blocked_for_a_while,
    "bulky": bulky,
    "queued": queued,
    "rejected": rejected,
    "delegated": delegated,
    "advised": advised,
    "tallied": tallied,
}


async def _ended(s: Sim, run: SimRun) -> SimRun:
    await s.skip_until(run.ended)
    return run


async def _until_nothing_happens(s: Sim, run: SimRun) -> None:
    try:
        await s.skip_until(run.ended)
    except StuckError:
        return
