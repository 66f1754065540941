"""Unseals rows. Values written before encryption was turned on are plain, and pass unchanged.

Reading one run raises the reason why it can't be read. When many rows are read at a time (lists, inboxes, queues), one
that can't be opened must not fail the others: it carries its own error.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from plait.kernel import values
from plait.kernel.approval import Approval, Delegation, Vote
from plait.kernel.errors import Erased, ErrorInfo, PlaitError
from plait.kernel.ids import Millis, RunId, TaskToken, caller_id
from plait.kernel.queued import ExpiredClaim, HeldTask, QueuedTask
from plait.kernel.store import DeadLetter, InboxRow, Line, LogRow, Record, RunRow, Snapshot, Taken
from plait.kernel.view import Reason

from . import errors, places
from .cipher import Unopenable, is_sealed, key_id_of, unpacked, unpacked_blob
from .data_keys import DataKeys
from .places import SEALED

log = logging.getLogger("plait.codec")

_error = msgspec.json.Decoder(ErrorInfo)
_vote = msgspec.json.Decoder(list[Raw])


class Unseal:
    def __init__(self, keys: DataKeys) -> None:
        self._keys = keys

    async def run(self, row: RunRow) -> RunRow:
        """Unseals a run's row. If its values can't be read, it keeps everything in plain text, and tells why."""
        owner = places.run(row.id)
        try:
            return replace(
                row,
                start_hash=(await self._text(owner, places.START, row.start_hash)).decode(),
                output=await self._raw(owner, places.OUTPUT, row.output),
                error=await self._error(owner, places.ERROR, row.error),
                blocked=await self._error(owner, places.BLOCKED, row.blocked),
                waiting=await self._reason(owner, row.waiting),
            )
        except PlaitError as error:
            return _unreadable(row, error)

    async def log(self, run_id: RunId, rows: Sequence[LogRow]) -> list[LogRow]:
        owner, found = places.run(run_id), list[LogRow]()
        for row in rows:
            if is_sealed(row.events):
                place = places.log(row)
                events = await self._text(owner, place, row.events)
                refs = None if row.blobs is None else await self._text(owner, f"{place}:refs", row.blobs)
                row = LogRow(row.seq, row.count, row.at, events, None if refs is None else refs.decode())
            found.append(row)
        return found

    async def inbox(self, rows: Sequence[InboxRow]) -> list[InboxRow]:
        """Unseals inbox rows; leaves out those that can't be opened. They wait for a process with the key, those of
        erased runs forever."""
        found: list[InboxRow] = []
        for row in rows:
            try:
                body = await self._text(places.run(row.run_id), places.inbox(row.key), row.body)
                found.append(replace(row, body=body))
            except PlaitError as error:
                log.warning("an input of run %s can't be read: %s", caller_id(row.run_id), error)
        return found

    async def reply(self, run_id: RunId, taken: Taken) -> Taken:
        if taken.reply is None:
            return taken
        return replace(taken, reply=await self._text(places.run(run_id), places.reply(taken.key), taken.reply))

    async def snapshot(self, run_id: RunId, snapshot: Snapshot) -> Snapshot:
        place = places.snapshot(snapshot.seq)
        return replace(snapshot, body=await self._text(places.run(run_id), place, snapshot.body))

    async def blob(self, name: str, body: bytes) -> bytes:
        if not is_sealed(body):
            return body
        try:
            sealed = unpacked_blob(body)
            return (await self._keys.find(key_id_of(sealed))).open(name, "blob", sealed)
        except Unopenable:
            raise errors.damaged(f"the value {name}") from None

    async def letter(self, letter: DeadLetter) -> DeadLetter:
        try:
            found = await self._error(places.run(letter.run_id), places.letter(letter.id), letter.error)
        except PlaitError as error:
            found = _why(error)
        assert found is not None
        return replace(letter, error=found)

    async def line(self, line: Line) -> Line:
        try:
            text = await self._text(places.run(line.run_id), places.line(line.node, line.attempt), line.text)
        except PlaitError as error:
            return replace(line, text=error.what)
        return replace(line, text=text.decode())

    async def approval(self, approval: Approval) -> Approval:
        owner, place = places.run(approval.run_id), places.approval(approval.token)
        try:
            return replace(
                approval,
                title=(await self._text(owner, f"{place}:title", approval.title)).decode(),
                form=await self._given(owner, f"{place}:form", approval.form),
                evidence=await self._given(owner, f"{place}:evidence", approval.evidence),
                answer=await self._given(owner, f"{place}:answer", approval.answer),
                votes=tuple([await self._vote(owner, place, vote) for vote in approval.votes]),
                delegations=tuple([await self._delegation(owner, place, each) for each in approval.delegations]),
            )
        except PlaitError as error:
            absent, votes = values.ABSENT, tuple(replace(vote, comment="") for vote in approval.votes)
            made = tuple(replace(each, comment="") for each in approval.delegations)
            return replace(
                approval,
                title=error.what,
                form=absent,
                evidence=absent,
                answer=absent,
                votes=votes,
                delegations=made,
            )

    async def held(self, held: HeldTask) -> HeldTask:
        return replace(held, task=await self._task(held.task))

    async def expired(self, claim: ExpiredClaim) -> ExpiredClaim:
        return replace(claim, progress=await self._progress(claim.run_id, claim.token, claim.progress))

    async def record(self, record: Record) -> Record:
        if not is_sealed(bytes(record.body)):
            return record
        return replace(record, body=Raw(await self._text(places.record(record), "body", bytes(record.body))))

    # -- parts -------------------------------------------------------------------------------------------------------

    async def _task(self, task: QueuedTask) -> QueuedTask:
        owner, place = places.run(task.run_id), places.task(task.token)
        refs = None if task.blobs is None else (await self._text(owner, f"{place}:refs", task.blobs)).decode()
        return replace(
            task,
            input=await self._text(owner, f"{place}:input", task.input),
            blobs=refs,
            progress=await self._progress(task.run_id, task.token, task.progress),
        )

    async def _progress(self, run_id: RunId, token: TaskToken, progress: Raw) -> Raw:
        """Unseals progress, or returns null: it only saves work, and an attempt that can't read it starts over."""
        try:
            return await self._given(places.run(run_id), f"{places.task(token)}:progress", progress)
        except PlaitError:
            return values.NULL

    async def _vote(self, owner: str, place: str, vote: Vote) -> Vote:
        if not is_sealed(vote.comment):
            return vote
        comment, data, *more = _vote.decode(await self._text(owner, f"{place}:vote", vote.comment))
        shown = values.decode(more[0], str) if more else ""  # older votes have none
        return replace(vote, comment=values.decode(comment, str), data=data, evidence_hash=shown)

    async def _delegation(self, owner: str, place: str, made: Delegation) -> Delegation:
        if not is_sealed(made.comment):
            return made
        return replace(made, comment=(await self._text(owner, f"{place}:delegation", made.comment)).decode())

    async def _error(self, owner: str, place: str, error: ErrorInfo | None) -> ErrorInfo | None:
        sealed = None if error is None else error.attrs.get(SEALED)
        if not isinstance(sealed, str) or not is_sealed(sealed):
            return error
        return _error.decode(await self._text(owner, place, sealed))

    async def _reason(self, owner: str, reason: Reason | None) -> Reason | None:
        if reason is None or not is_sealed(reason.text):
            return reason
        return replace(reason, text=(await self._text(owner, places.WAITING, reason.text)).decode())

    async def _raw(self, owner: str, place: str, value: Raw | None) -> Raw | None:
        return None if value is None else await self._given(owner, place, value)

    async def _given(self, owner: str, place: str, value: Raw) -> Raw:
        found = bytes(value)
        return Raw(await self._text(owner, place, found)) if is_sealed(found) else value

    async def _text(self, owner: str, place: str, text: str | bytes) -> bytes:
        if not is_sealed(text):
            return text.encode() if isinstance(text, str) else text
        try:
            sealed = unpacked(text)
            key = self._keys.known(key_id_of(sealed)) or await self._keys.find(key_id_of(sealed))
            return key.open(owner, place, sealed)
        except Unopenable:
            raise errors.damaged(f"{place} of {owner}") from None


def _unreadable(row: RunRow, error: PlaitError) -> RunRow:
    why = _why(error)
    waiting = None if row.waiting is None else Reason(row.waiting.kind, error.what, until=row.waiting.until)
    return replace(
        row,
        start_hash="",
        output=None,
        error=None if row.error is None else replace(why, code=row.error.code),
        blocked=why if row.status == "running" else None,
        waiting=waiting,
        erased_at=Millis(error.at) if isinstance(error, Erased) else None,
    )


def _why(error: PlaitError) -> ErrorInfo:
    return ErrorInfo(error.code, error.text, kind="blocked")
