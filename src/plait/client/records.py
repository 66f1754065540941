"""Converts the shapes that a server sends to the types that an engine in this process returns."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from plait.api.approval import Approval, Vote
from plait.api.dead_letter import DeadLetter
from plait.api.diff import Diff
from plait.api.log import LogLine
from plait.api.picture import Picture, RunDiff
from plait.api.plan import RunPlan
from plait.api.run import Run, RunDetail
from plait.kernel import approval as approvals
from plait.kernel import store, values
from plait.kernel.definitions import Plan
from plait.kernel.ids import Millis, TaskToken, run_key, shard_of
from plait.kernel.past import Past
from plait.kernel.store import Line, RunRow
from plait.kernel.values import ABSENT


def row_of(run: Run, output: Raw | None = None) -> RunRow:
    """Makes a run's row, without the fields that only the run's owner knows."""
    id = run_key(run.namespace, run.id)
    return RunRow(
        id=id,
        namespace=run.namespace,
        dialect=run.dialect,
        definition=run.definition,
        version=run.version,
        shard=shard_of(id),
        status=run.status,
        blocked=run.blocked,
        labels=run.labels,
        parent=None if run.parent is None else run_key(run.namespace, run.parent),
        parent_token=None if run.parent_node is None else TaskToken(run.parent_node),
        created_at=run.created_at,
        ended_at=run.ended_at,
        deadline=run.deadline,
        output=output,
        error=run.error,
        awake=run.phase != "waiting",
        waiting=run.waiting,
        past=_past_of(run),
        erased_at=run.erased_at,
    )


def _past_of(run: Run) -> Past | None:
    if run.forked_from is None and not run.reopened and not run.partial and run.agents is None:
        return None
    source = None if run.forked_from is None else run_key(run.namespace, run.forked_from)
    return Past(source, run.forked_at or 0, run.reopened, Millis(run.idle_ms), run.partial, run.agents)


def detail_row(detail: RunDetail) -> RunRow:
    """Makes a run's row, with its output if it has completed and is shown as it is now."""
    completed = detail.run.status == "completed" and detail.at is None
    return row_of(detail.run, values.encode(detail.output) if completed else None)


def picture_of(detail: RunDetail) -> Picture:
    return Picture(
        row=detail_row(detail),
        input=detail.input,
        output=detail.output,
        view=detail.view,
        waiting=detail.waiting,
        seq=detail.seq,
        at=detail.at,
        actions=detail.actions,
    )


def diff_of(diff: Diff) -> RunDiff:
    return RunDiff(row_of(diff.a), row_of(diff.b), diff.input, diff.output, diff.nodes)


def line_of(line: LogLine, namespace: str, run_id: str) -> Line:
    return Line(run_key(namespace, run_id), line.node, line.attempt, line.at, line.level, line.text, line.id)


def approval_of(approval: Approval) -> approvals.Approval:
    return approvals.Approval(
        id=approval.id,
        run_id=run_key(approval.namespace, approval.run_id),
        namespace=approval.namespace,
        token=TaskToken(approval.node),
        title=approval.title,
        by=approval.by,
        asked_at=approval.asked_at,
        deadline=approval.deadline,
        form=_raw(approval.form),
        evidence=_raw(approval.evidence),
        required=approval.required,
        approvers=tuple(approval.approvers),
        escalations=tuple(approvals.Escalation(each.after, tuple(each.to)) for each in approval.escalations),
        level=approval.level,
        status=approval.status,
        votes=tuple(map(_vote_of, approval.votes)),
        decided_at=approval.decided_at,
        decided_by=approval.decided_by,
        answer=_raw(approval.answer),
        delegations=tuple(approvals.Delegation(d.by, d.to, d.at, d.comment) for d in approval.delegations),
        evidence_hash=approval.evidence_hash,
    )


def _vote_of(vote: Vote) -> approvals.Vote:
    data = values.encode(vote.data)
    return approvals.Vote(vote.by, vote.decision, vote.at, vote.comment, data, vote.evidence_hash)


def dead_letter_of(letter: DeadLetter) -> store.DeadLetter:
    return store.DeadLetter(
        id=letter.id,
        run_id=run_key(letter.namespace, letter.run_id),
        namespace=letter.namespace,
        token=TaskToken(letter.node),
        label=letter.label,
        attempts=letter.attempts,
        error=letter.error,
        at=letter.at,
        status=letter.status,
    )


def plan_of(plan: RunPlan) -> Plan:
    return Plan(
        dialect=plan.dialect,
        definition=plan.definition,
        version=plan.version,
        input=plan.input,
        notes=plan.notes,
        body=plan.plan,
        startable=plan.valid,
    )


def _raw(value: Any) -> Raw:
    return ABSENT if value is None else values.encode(value)
