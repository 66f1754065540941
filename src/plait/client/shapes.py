"""The server's JSON, and the engine's types that are made of it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw

from plait.definitions.definition import Definition
from plait.dialects.goals.catalogs.cluster import StepHealth
from plait.dialects.goals.planning.plan import Links
from plait.dialects.goals.steps.step import Step
from plait.engine.diff import Change, NodeChange, RunDiff
from plait.engine.run_details import Action, Picture
from plait.engine.timeline import Bar
from plait.kernel.definitions import Plan
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Recorded
from plait.kernel.ids import Millis, TaskToken, run_key, shard_of
from plait.kernel.store import DeadLetter, Line, LineLevel, Question, RunRow
from plait.kernel.values import ABSENT, NULL
from plait.kernel.view import Reason, RunStatus, RunView


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """Base of what is answered. A newer server may say more than we know."""


class Run(Shape, frozen=True, kw_only=True):
    id: str
    namespace: str
    dialect: str
    definition: str
    version: str | None = None
    status: RunStatus
    blocked: ErrorInfo | None = None
    labels: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    parent: str | None = None
    parent_node: str | None = None
    created_at: Millis
    ended_at: Millis | None = None
    deadline: Millis | None = None
    error: ErrorInfo | None = None

    def row(self, output: Raw | None = None) -> RunRow:
        """Without what only an owner needs to know."""
        id = run_key(self.namespace, self.id)
        return RunRow(
            id=id,
            namespace=self.namespace,
            dialect=self.dialect,
            definition=self.definition,
            version=self.version,
            shard=shard_of(id),
            status=self.status,
            blocked=self.blocked,
            labels=self.labels,
            parent=None if self.parent is None else run_key(self.namespace, self.parent),
            parent_token=None if self.parent_node is None else TaskToken(self.parent_node),
            created_at=self.created_at,
            ended_at=self.ended_at,
            deadline=self.deadline,
            output=output,
            error=self.error,
        )


class RunPage(Shape, frozen=True, kw_only=True):
    runs: list[Run]
    next: str | None = None


class RunDetail(Shape, frozen=True, kw_only=True):
    run: Run
    input: Any = None
    output: Raw = ABSENT
    view: RunView
    waiting: list[Reason]
    seq: int
    at: int | None = None
    actions: list[Action]

    @property
    def _output(self) -> Raw:
        return self.output if bytes(self.output) else NULL

    def row(self) -> RunRow:
        completed = self.run.status == "completed" and self.at is None
        return self.run.row(self._output if completed else None)

    def picture(self) -> Picture:
        return Picture(
            row=self.row(),
            input=self.input,
            output=msgspec.json.decode(self._output),
            view=self.view,
            waiting=self.waiting,
            seq=self.seq,
            at=self.at,
            actions=self.actions,
        )


class RunRef(Shape, frozen=True, kw_only=True):
    id: str
    namespace: str
    status: RunStatus


class Named(Shape, frozen=True, kw_only=True):
    """What was told is durable."""

    id: str


class EventPage(Shape, frozen=True, kw_only=True):
    events: list[Recorded]
    next: int | None = None


class Timeline(Shape, frozen=True, kw_only=True):
    bars: list[Bar]


class LogLine(Shape, frozen=True, kw_only=True):
    id: int
    at: Millis
    node: str
    attempt: int
    level: LineLevel
    text: str


class LogPage(Shape, frozen=True, kw_only=True):
    lines: list[LogLine]

    def of(self, namespace: str, run_id: str) -> list[Line]:
        key = run_key(namespace, run_id)
        return [Line(key, line.node, line.attempt, line.at, line.level, line.text, line.id) for line in self.lines]


class Diff(Shape, frozen=True, kw_only=True):
    a: Run
    b: Run
    input: list[Change]
    output: list[Change]
    nodes: list[NodeChange]

    def diff(self) -> RunDiff:
        return RunDiff(self.a.row(), self.b.row(), self.input, self.output, self.nodes)


class Approval(Shape, frozen=True, kw_only=True):
    id: str
    run_id: str
    namespace: str
    node: str
    title: str
    by: str = ""
    asked_at: Millis
    deadline: Millis | None = None
    form: Raw = ABSENT
    evidence: Raw = ABSENT

    def question(self) -> Question:
        return Question(
            id=self.id,
            run_id=run_key(self.namespace, self.run_id),
            namespace=self.namespace,
            token=TaskToken(self.node),
            title=self.title,
            by=self.by,
            asked_at=self.asked_at,
            deadline=self.deadline,
            form=self.form,
            evidence=self.evidence,
        )


class ApprovalList(Shape, frozen=True, kw_only=True):
    approvals: list[Approval]


class Letter(Shape, frozen=True, kw_only=True):
    id: str
    run_id: str
    namespace: str
    node: str
    label: str
    attempts: int
    error: ErrorInfo
    at: Millis
    status: Literal["pending", "retried", "discarded"]

    def dead_letter(self) -> DeadLetter:
        return DeadLetter(
            id=self.id,
            run_id=run_key(self.namespace, self.run_id),
            namespace=self.namespace,
            token=TaskToken(self.node),
            label=self.label,
            attempts=self.attempts,
            error=self.error,
            at=self.at,
            status=self.status,
        )


class LetterList(Shape, frozen=True, kw_only=True):
    dead_letters: list[Letter]


class DefinitionList(Shape, frozen=True, kw_only=True):
    definitions: list[Definition]


class Planned(Shape, frozen=True, kw_only=True):
    dialect: str
    definition: str
    version: str | None = None
    valid: bool
    input: Any = None
    notes: list[str]
    plan: Any = None

    def made(self) -> Plan:
        return Plan(
            dialect=self.dialect,
            definition=self.definition,
            version=self.version,
            input=self.input,
            notes=self.notes,
            body=self.plan,
            startable=self.valid,
        )


class Catalog(Shape, frozen=True, kw_only=True):
    steps: list[Step]
    attributes: dict[str, Links]
    health: dict[str, StepHealth]
    last_updated: Millis


class CatalogStep(Shape, frozen=True, kw_only=True):
    step: Step


class CatalogSteps(Shape, frozen=True, kw_only=True):
    steps: list[Step]


class StepRemoved(Shape, frozen=True, kw_only=True):
    orphans: dict[str, list[str]]
    flows: list[str]


class Me(Shape, frozen=True, kw_only=True):
    """Who the server takes us for."""

    name: str
    role: str
    namespace: str
    """The one namespace of the key, or `*`."""
    mode: str
    version: str
    """Of the server."""


class Health(Shape, frozen=True, kw_only=True):
    status: str
    version: str


class Ready(Shape, frozen=True, kw_only=True):
    status: str
