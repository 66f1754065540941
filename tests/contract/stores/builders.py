"""Rows and writes with everything filled in that a test does not care about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from plait.kernel import values
from plait.kernel.approval import Approval, ApprovalFilter
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import SHARDS, Epoch, Millis, RunId, Seq, Shard, TaskToken, shard_of
from plait.kernel.queued import Claim, ClaimRequest, QueuedTask
from plait.kernel.store import (
    DeadLetter,
    InboxRow,
    LogRow,
    NewChild,
    RunPatch,
    RunRow,
    Store,
    TimerRow,
    Verdict,
    Write,
)

NOW = Millis(1_700_000_000_000)
LONG = Millis(3_600_000)
"""A lease that does not run out during a test."""
NONE = Millis(0)
"""A lease that has run out when it begins."""
ALL = [Shard(number) for number in range(SHARDS)]


def run_row(run_id: str = "run", **changes: Any) -> RunRow:
    key = RunId(run_id)
    row = RunRow(id=key, namespace="default", dialect="code", definition="order", shard=shard_of(key), created_at=NOW)
    return replace(row, **changes)


def log_row(seq: int = 1, count: int = 1, note: str = "done") -> LogRow:
    events = [{"kind": "step.completed", "n": seq + index, "note": note} for index in range(count)]
    return LogRow(Seq(seq), count, Millis(NOW + seq), values.plain(events))


def message(run_id: str, key: str = "hello", *, body: object = "hi", fallback: DeadLetter | None = None) -> InboxRow:
    target = RunId(run_id)
    return InboxRow(target, shard_of(target), key, values.plain(body), NOW, fallback)


def timer(run_id: str, token: str = "sleep", due: int = 1_000) -> TimerRow:
    owner = RunId(run_id)
    return TimerRow(owner, shard_of(owner), TaskToken(token), Millis(due))


def approval(run_id: str, token: str = "approve", **changes: Any) -> Approval:
    row = Approval(f"{run_id}:{token}", RunId(run_id), "default", TaskToken(token), "May we?", "manager", NOW)
    return replace(row, **changes)


async def open_approvals(store: Store, namespace: str = "default", run_id: str | None = None) -> list[Approval]:
    return await store.approvals(ApprovalFilter(namespace=namespace, run_id=None if run_id is None else RunId(run_id)))


def dead_letter(run_id: str, token: str = "charge", **changes: Any) -> DeadLetter:
    error = ErrorInfo("task.failed", "card declined")
    row = DeadLetter(f"{run_id}:{token}", RunId(run_id), "default", TaskToken(token), "charge", 3, error, NOW)
    return replace(row, **changes)


def child(run_id: str, *, parent: str, token: str = "start-child") -> NewChild:
    row = run_row(run_id, parent=RunId(parent), parent_token=TaskToken(token), depth=1)
    return NewChild(row, message(run_id, "start"), message(parent, f"refused:{token}", body="the id is taken"))


def ended(**changes: Any) -> RunPatch:
    patch = RunPatch(status="completed", awake=False, ended_at=Millis(NOW + 5), output=values.encode("shipped"))
    return replace(patch, **changes)


def outside(run_id: str, **parts: Any) -> Write:
    """A write by someone who owns nothing."""
    key = RunId(run_id)
    return Write(key, shard_of(key), None, **parts)


@dataclass
class Owner:
    """An engine that has leases, as far as writing goes."""

    name: str
    epochs: dict[Shard, Epoch]

    def write(self, run_id: str, **parts: Any) -> Write:
        key = RunId(run_id)
        return Write(key, shard_of(key), self.epochs[shard_of(key)], **parts)


async def own_all(store: Store, name: str = "owner", ttl: Millis = LONG) -> Owner:
    leases = await store.claim(name, ttl, SHARDS)
    assert {lease.shard for lease in leases} == set(ALL)
    return Owner(name, {lease.shard: lease.epoch for lease in leases})


async def must(store: Store, *writes: Write) -> None:
    """Commits writes that nothing speaks against."""
    assert await store.commit(writes) == ["ok"] * len(writes)


async def create(store: Store, *run_ids: str, **changes: Any) -> None:
    await must(store, *(outside(run_id, create=run_row(run_id, **changes)) for run_id in run_ids))


def ids(rows: list[RunRow]) -> list[str]:
    return [row.id for row in rows]


def keys(rows: list[InboxRow]) -> list[str]:
    return [row.key for row in rows]


def one_of_another_shard(run_id: str) -> str:
    """A run id that lands on another shard."""
    return next(name for n in range(1_000) if shard_of(RunId(name := f"other-{n}")) != shard_of(RunId(run_id)))


OK: Verdict = "ok"


def queued_task(run_id: str, token: str = "render", **changes: Any) -> QueuedTask:
    owner = RunId(run_id)
    row = QueuedTask(
        run_id=owner,
        shard=shard_of(owner),
        namespace="default",
        token=TaskToken(token),
        opening=2,
        attempt=1,
        queue="gpu",
        kind="python",
        handler="render",
        label="render",
        node=token,
        key=f"{run_id}:{token}",
        input=values.plain({"handler": "render", "arguments": {"page": 1}}),
        enqueued_at=NOW,
    )
    return replace(row, **changes)


def claim_request(claim: str = "c1", **changes: Any) -> ClaimRequest:
    request = ClaimRequest(
        claim=claim, namespace="default", queues=["gpu"], worker=f"worker of {claim}", limit=10, lease=LONG
    )
    return replace(request, **changes)


def claim_of(run_id: str, token: str = "render", claim: str = "c1", **changes: Any) -> Claim:
    """A worker's hold on a `queued_task`."""
    return replace(Claim(RunId(run_id), TaskToken(token), claim, opening=2, attempt=1), **changes)


def finishing(run_id: str, token: str = "render", claim: str = "c1", *, key: str | None = None) -> Write:
    """A worker's result."""
    result = message(run_id, key or f"~task:{claim}", body={"kind": "task_result"})
    return outside(run_id, inbox=[result], finished=claim_of(run_id, token, claim))


async def enqueue(store: Store, owner: Owner, *tasks: QueuedTask) -> None:
    await must(store, *(owner.write(task.run_id, queued=[task]) for task in tasks))
