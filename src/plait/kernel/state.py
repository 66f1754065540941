"""The kernel's own knowledge of a run, folded from its events: a dialect's machine is the other half."""

from __future__ import annotations

import msgspec

from .agent_totals import NO_AGENTS, AgentTotals
from .events import (
    AgentFinished,
    ApprovalClosed,
    ApprovalEvent,
    ApprovalNotified,
    ChildCompensable,
    Event,
    NoticeEnded,
    RollbackEnded,
    RollbackStarted,
    RollbackStep,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunPatched,
    RunReopened,
    RunStarted,
    TaskDeadLettered,
    TaskJournaled,
    TaskQueued,
    TaskRetryScheduled,
    TaskSuspended,
    TokenRejected,
)
from .ids import NEVER, Millis, RunId, TaskToken
from .journal import Journal
from .open_approvals import OpenApproval, fold
from .open_notices import OpenNotices
from .rollback import FinalEvent, Rollback
from .tasks import Opening, TaskBook
from .view import RunStatus


class StartedFrom(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Queueing options that a run was started with."""

    queue: str = ""
    """The queue it waited on, whose slot it holds."""
    priority: int = 0
    partition: str = ""


class KernelState(msgspec.Struct, omit_defaults=True):
    """The kernel's half of a snapshot."""

    status: RunStatus
    attempts: list[TaskRetryScheduled] = []
    rollback: Rollback | None = None
    final: FinalEvent | None = None
    approvals: list[OpenApproval] = []
    revision: int = 1
    queued: list[Opening] = []
    rejections: dict[TaskToken, int] = {}
    children: list[ChildCompensable] = []
    independent: bool = False
    notices: dict[TaskToken, OpenNotices] = {}
    journals: list[Journal] = []
    agents: AgentTotals | None = None
    queueing: StartedFrom | None = None


class RunState:
    def __init__(self) -> None:
        self.seq = 0
        self.at = NEVER
        self.started = False
        self.status: RunStatus = "running"
        self.final: FinalEvent | None = None
        self.tasks = TaskBook()
        self.rollback: Rollback | None = None
        self.approvals: dict[TaskToken, OpenApproval] = {}
        """Approvals whose votes the kernel counts."""
        self.revision = 1
        """Revision of its definition: each patch creates a new one."""
        self.children: dict[RunId, ChildCompensable] = {}
        """Children that a rollback must compensate too, in the order in which they ended."""
        self.independent = False
        """Its parent does not compensate its work."""
        self.notices: dict[TaskToken, OpenNotices] = {}
        """Notices of open approvals."""
        self.agents: AgentTotals | None = None
        """None: no agent has started."""
        self.queueing: StartedFrom | None = None

    @property
    def rolling_back(self) -> bool:
        return self.rollback is not None and not self.rollback.over and self.status == "running"

    def evolve(self, event: Event) -> None:
        # The two events that every run has are checked by exact type: matching classes takes many times as long
        if type(event) is RunStarted:
            self.started, self.independent = True, event.independent
            if event.queue or event.priority or event.partition:
                self.queueing = StartedFrom(event.queue, event.priority, event.partition)
        elif type(event) is RunCompleted:
            self.status, self.final = "completed", event
        else:
            self._evolve(event)
        if (self.approvals or self.notices) and (self.status != "running" or self.rolling_back):
            self.approvals, self.notices = {}, {}

    def _evolve(self, event: Event) -> None:
        match event:
            case RunFailed():
                self.status, self.final = "failed", event
            case RunCancelled():
                self.status, self.final = "cancelled", event
            case RunReopened():
                self.status = "running"
                self.tasks.forget_past()
                if self.rollback is not None and event.cause != "compensate":
                    self.rollback.superseded = True
            case RunPatched():
                self.revision = event.revision
            case TaskRetryScheduled():
                self.tasks.evolve(event)
            case TaskQueued():
                self.tasks.queued(Opening(event.token, self.seq, event.attempt, event.lost, event.queue))
            case TaskJournaled():
                self.tasks.journaled(event)
                if not event.index:  # so far only agents keep journals
                    self.agents = (self.agents or NO_AGENTS).begun()
            case AgentFinished():
                self.agents = (self.agents or NO_AGENTS).finished(event)
            case TaskSuspended():
                self.tasks.suspended(event)
            case TokenRejected():
                self.tasks.rejections[event.token] = event.times
            case TaskDeadLettered():
                self.tasks.close(event.token)
            case RollbackStarted():
                self.rollback = Rollback.begun(event, self.rollback)
            case RollbackStep():
                if self.rollback is not None:
                    self.rollback.evolve(event)
            case RollbackEnded():
                if self.rollback is not None:
                    self.rollback.over = True
            case ChildCompensable():
                self.children.pop(event.run_id, None)
                self.children[event.run_id] = event
            case ApprovalNotified():
                self.notices.setdefault(event.token, OpenNotices()).add(event)
            case NoticeEnded():
                if (notices := self.notices.get(event.token)) is not None:
                    notices.end(event)
            case ApprovalEvent():
                fold(self.approvals, event, self.at)
                if type(event) is ApprovalClosed:
                    self.notices.pop(event.token, None)
            case _:
                pass

    def dump(self) -> KernelState:
        tasks, approvals = self.tasks, list(self.approvals.values())
        return KernelState(
            self.status,
            tasks.dump(),
            self.rollback,
            self.final,
            approvals,
            self.revision,
            tasks.openings(),
            tasks.rejections.copy(),
            list(self.children.values()),
            self.independent,
            msgspec.convert(msgspec.to_builtins(self.notices), dict[TaskToken, OpenNotices]),
            tasks.journals(),
            self.agents,
            self.queueing,
        )

    def restore(self, state: KernelState, seq: int, at: Millis) -> None:
        self.seq, self.at, self.started = seq, at, True
        self.status, self.rollback, self.final = state.status, state.rollback, state.final
        self.revision, self.independent = state.revision, state.independent
        self.children = {child.run_id: child for child in state.children}
        for event in state.attempts:
            self.tasks.evolve(event)
        self.approvals = {approval.token: approval for approval in state.approvals}
        for opening in state.queued:
            self.tasks.queued(opening)
        for journal in state.journals:
            self.tasks.restore_journal(journal)
        self.tasks.rejections = state.rejections.copy()
        self.notices = state.notices
        self.agents = state.agents
        self.queueing = state.queueing
