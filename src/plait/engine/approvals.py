"""`engine.approvals`: requests of runs to people, and people's decisions."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Raw
from msgspec.structs import replace

from plait.conditions import schema
from plait.kernel import values
from plait.kernel.approval import Approval, ApprovalFilter, ApprovalStatus, hash_of
from plait.kernel.errors import Conflict, Flaw, InvalidInput, NotFound
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis, RunId, TaskToken, check_namespace, run_key
from plait.kernel.inputs import Decided, Delegate
from plait.kernel.kernel import Kernel

from .ask import answer_of, ask_owner
from .decided_approval import already_closed


class Approvals:
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    async def list(
        self,
        namespace: str = DEFAULT_NAMESPACE,
        run_id: str | None = None,
        *,
        status: ApprovalStatus | Literal["all"] = "open",
        after: tuple[Millis, str] | None = None,
        limit: int = 100,
    ) -> list[Approval]:
        """Lists approvals: open ones, and those of one run, oldest first; others newest first. `after` is the
        `(asked_at, id)` of the last one on the previous page."""
        self._kernel.must_live()
        query = ApprovalFilter(
            namespace=check_namespace(namespace),
            run_id=None if run_id is None else run_key(namespace, run_id),
            status=None if status == "all" else status,
            after=after,
            limit=max(limit, 0),
        )
        return [_with_hash(each) for each in await self._kernel.store.approvals(query)]

    async def get(self, id: str, namespace: str = DEFAULT_NAMESPACE) -> Approval:
        """An approval, open or decided."""
        self._kernel.must_live()
        found = await self._kernel.store.approval(id)
        if found is None or found.namespace != namespace:
            raise NotFound(
                "kernel.no_approval", f"there is no approval {id}", fix="`plait approvals --status all` lists them"
            )
        return _with_hash(found)

    async def decide(
        self,
        id: str,
        decision: str,
        *,
        by: str = "",
        comment: str = "",
        data: Any = None,
        evidence_hash: str = "",
        namespace: str = DEFAULT_NAMESPACE,
    ) -> Approval:
        """Votes on an approval; durable when this returns. If two people decide at once, the second is told about the
        first. `data` must fit the form, unless the vote is no. The vote is stored with the hash of the evidence; an
        `evidence_hash` of other evidence is refused. Returns the updated approval."""
        found, _ = await self.vote(
            id, decision, by=by, comment=comment, data=data, evidence_hash=evidence_hash, namespace=namespace
        )
        return found

    async def vote(
        self,
        id: str,
        decision: str,
        *,
        by: str = "",
        comment: str = "",
        data: Any = None,
        evidence_hash: str = "",
        namespace: str = DEFAULT_NAMESPACE,
        key: str = "",
    ) -> tuple[Approval, Any]:
        """Votes like `decide`, and also returns the run's answer, if its dialect gives one. Repeating a `key` returns
        the first answer."""
        if decision not in ("approve", "reject"):
            raise InvalidInput("kernel.bad_decision", f"decision {decision!r}", fix="use approve or reject")
        found = await self.get(id, namespace)
        key = values.text("the key", key, max_length=200) and f"~vote:{found.token}:{key}"
        if key and (known := await self._kernel.store.reply(found.run_id, key)) is not None:
            return found, answer_of(known)
        values.text("by", by)
        values.text("the comment", comment, max_length=10_000)
        raw = values.encode(data, max_bytes=self._kernel.limits.max_payload)
        if found.status != "open":
            raise already_closed(found)
        _must_be_shown(found, evidence_hash)
        if found.form and not (decision == "reject" and data is None):
            _must_fit(found, values.decode(raw))
        answer = await self._ask(found, Decided(found.token, decision, by, comment, raw, found.evidence_hash), key)
        return await self.get(id, namespace), None if answer is None else values.decode(answer)

    async def delegate(
        self, id: str, to: str, *, by: str, comment: str = "", namespace: str = DEFAULT_NAMESPACE
    ) -> Approval:
        """Delegates the vote of `by` to `to`; durable when this returns. `by` can't vote any more, unless `to`
        delegates it back."""
        found = await self.get(id, namespace)
        for what, name in (("to", to), ("by", by)):
            if not values.text(what, name, max_length=200).strip():
                raise InvalidInput("kernel.anonymous_vote", f"`{what}` is empty", fix="name a person")
        values.text("the comment", comment, max_length=10_000)
        if found.status != "open":
            raise already_closed(found)
        await self._ask(found, Delegate(found.token, by, to, comment))
        return await self.get(id, namespace)

    async def open_one(self, run_id: RunId, token: TaskToken) -> Approval | None:
        """The open approval of a token."""
        query = ApprovalFilter(namespace=run_id.rpartition("/")[0] or DEFAULT_NAMESPACE, run_id=run_id)
        found = await self._kernel.store.approvals(query)
        return next((each for each in found if each.token == token), None)

    async def _ask(self, approval: Approval, input: Decided | Delegate, key: str = "") -> Raw | None:
        try:
            return await ask_owner(self._kernel, approval.run_id, f"approval {approval.id}", input, key or None)
        except Conflict:
            if (latest := await self.get(approval.id, approval.namespace)).status != "open":
                raise already_closed(latest) from None
            raise


def _with_hash(approval: Approval) -> Approval:
    return replace(approval, evidence_hash=hash_of(approval.evidence))


def _must_be_shown(approval: Approval, evidence_hash: str) -> None:
    if evidence_hash and evidence_hash != approval.evidence_hash:
        raise Conflict(
            "kernel.other_evidence",
            f"approval {approval.id} has other evidence than the decision is about",
            why=f"its hash is {approval.evidence_hash or 'empty: it has none'}",
            fix="look at the approval again, and decide on what it shows",
        )


def _must_fit(approval: Approval, data: Any) -> None:
    flaws = [Flaw("kernel.bad_form", misfit.pointer, misfit.message) for misfit in schema.misfits(approval.form, data)]
    if flaws:
        raise InvalidInput(
            "kernel.bad_form",
            f"what came with the decision does not fit the form of {approval.id}",
            why="; ".join(f"{flaw.pointer or 'data'}: {flaw.message}" for flaw in flaws[:3]),
            fix="fill in the form as its JSON Schema says",
            flaws=flaws,
        )
