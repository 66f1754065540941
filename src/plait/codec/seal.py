"""Seals plain rows with one key. The kernel's rows are copied, never changed: they are still in use above.

`unseal.py` has the inverse for each kind of row; `places` names the place of each value in its run.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from plait.kernel import values
from plait.kernel.approval import Approval, ApprovalChange, Delegation, Vote
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.queued import QueuedTask
from plait.kernel.store import DeadLetter, InboxRow, Line, LogRow, Record, RunPatch, RunRow, Snapshot, Taken
from plait.kernel.view import Reason

from . import places
from .cipher import DataKey
from .places import ENCRYPTED, SEALED

_refs = msgspec.json.Decoder(dict[str, str])
Names = dict[str, str]
"""The names that blobs are stored under, by the hash of their content."""


class Seal:
    """Seals the rows of one run."""

    __slots__ = ("_key", "_owner", "_run_id")

    def __init__(self, key: DataKey, run_id: RunId) -> None:
        self._key = key
        self._run_id = run_id
        self._owner = places.run(run_id)

    def run(self, row: RunRow) -> RunRow:
        return replace(
            row,
            start_hash=self._text(places.START, row.start_hash.encode()),
            output=self._raw(places.OUTPUT, row.output),
            error=self.error(places.ERROR, row.error),
            blocked=self.error(places.BLOCKED, row.blocked),
            waiting=self._reason(row.waiting),
        )

    def patch(self, patch: RunPatch) -> RunPatch:
        return replace(
            patch,
            output=self._raw(places.OUTPUT, patch.output),
            error=self.error(places.ERROR, patch.error),
            blocked=self.error(places.BLOCKED, patch.blocked),
            waiting=self._reason(patch.waiting),
        )

    def log(self, row: LogRow, names: Names) -> LogRow:
        place = places.log(row)
        events = self._text(place, row.events).encode()
        return LogRow(row.seq, row.count, row.at, events, self._refs(f"{place}:refs", row.blobs, names))

    def inbox(self, row: InboxRow) -> InboxRow:
        """Seals an inbox row, except for its fallback, which belongs to another run."""
        return replace(row, body=self._text(places.inbox(row.key), row.body).encode(), fallback=None)

    def taken(self, taken: Taken) -> Taken:
        if taken.reply is None:
            return taken
        return replace(taken, reply=self._text(places.reply(taken.key), taken.reply).encode())

    def letter(self, letter: DeadLetter) -> DeadLetter:
        sealed = self.error(places.letter(letter.id), letter.error)
        assert sealed is not None
        return replace(letter, error=sealed)

    def snapshot(self, snapshot: Snapshot) -> Snapshot:
        return replace(snapshot, body=self._text(places.snapshot(snapshot.seq), snapshot.body).encode())

    def line(self, line: Line) -> Line:
        return replace(line, text=self._text(places.line(line.node, line.attempt), line.text.encode()))

    def approval(self, approval: Approval) -> Approval:
        place = places.approval(approval.token)
        return replace(
            approval,
            title=self._text(f"{place}:title", approval.title.encode()),
            form=self._given(f"{place}:form", approval.form),
            evidence=self._given(f"{place}:evidence", approval.evidence),
            answer=self._given(f"{place}:answer", approval.answer),
            votes=self._votes(place, approval.votes),
            delegations=self._delegations(place, approval.delegations),
        )

    def approval_change(self, change: ApprovalChange) -> ApprovalChange:
        place = places.approval(change.token)
        votes = None if change.votes is None else self._votes(place, change.votes)
        made = None if change.delegations is None else self._delegations(place, change.delegations)
        answer = self._given(f"{place}:answer", change.answer)
        return replace(change, answer=answer, votes=votes, delegations=made)

    def task(self, task: QueuedTask, names: Names) -> QueuedTask:
        place = places.task(task.token)
        return replace(
            task,
            input=self._text(f"{place}:input", task.input).encode(),
            blobs=self._refs(f"{place}:refs", task.blobs, names),
            progress=self.progress(task.token, task.progress),
        )

    def progress(self, token: TaskToken, progress: Raw) -> Raw:
        """Seals progress; `null` (none yet) stays as it is."""
        return progress if bytes(progress) == b"null" else self._given(f"{places.task(token)}:progress", progress)

    def error(self, place: str, error: ErrorInfo | None) -> ErrorInfo | None:
        """Seals an error, except for its code and kind, which filters need."""
        if error is None:
            return None
        sealed = self._text(place, values.plain(error))
        return ErrorInfo(error.code, ENCRYPTED, kind=error.kind, attrs={SEALED: sealed})

    def _reason(self, reason: Reason | None) -> Reason | None:
        if reason is None:
            return None
        return Reason(reason.kind, self._text(places.WAITING, reason.text.encode()), until=reason.until)

    def _votes(self, place: str, votes: tuple[Vote, ...]) -> tuple[Vote, ...]:
        return tuple(
            replace(
                vote,
                comment=self._text(f"{place}:vote", values.plain([vote.comment, vote.data, vote.evidence_hash])),
                data=values.NULL,
                evidence_hash="",
            )
            for vote in votes
        )

    def _delegations(self, place: str, made: tuple[Delegation, ...]) -> tuple[Delegation, ...]:
        return tuple(replace(d, comment=self._text(f"{place}:delegation", d.comment.encode())) for d in made)

    def _refs(self, place: str, refs: str | None, names: Names) -> str | None:
        if refs is None:
            return None
        renamed = {where: names.get(digest, digest) for where, digest in _refs.decode(refs).items()}
        return self._text(place, values.plain(renamed))

    def _raw(self, place: str, value: Raw | None) -> Raw | None:
        return None if value is None else self._given(place, value)

    def _given(self, place: str, value: Raw) -> Raw:
        """Seals a value; an absent one stays absent."""
        return Raw(self._text(place, bytes(value)).encode()) if value else value

    def _text(self, place: str, plain: bytes) -> str:
        return self._key.seal_text(self._owner, place, plain)


def blob_names(key: DataKey, refs: Iterable[str | None], new: set[str]) -> Names:
    """Names the new blobs that rows refer to, so that the names reveal nothing about the content without the key."""
    digests = {digest for listed in refs if listed is not None for digest in _refs.decode(listed).values()}
    return {digest: places.blob(key.digest(digest)) for digest in digests & new}


def seal_record(key: DataKey, record: Record) -> Record:
    sealed = key.seal_text(places.record(record), "body", bytes(record.body))
    return replace(record, body=Raw(sealed.encode()))
