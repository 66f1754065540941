"""Asking people: `ctx.approve`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from plait.conditions import schema
from plait.kernel import values
from plait.kernel.approval import Escalation
from plait.kernel.effects import RequestApproval, SetTimer
from plait.kernel.errors import InvalidInput, PlaitError, TooLarge
from plait.kernel.ids import Millis
from plait.kernel.values import ABSENT

from .definition import checked_text
from .errors import WorkflowCodeError
from .events import OpOpened
from .op import Op
from .op_state import OpState
from .options import bad_option
from .scope import Scope
from .waits import Due

_MOST_VOTES = 100


class Verdict(msgspec.Struct, frozen=True):
    """The decision. `decision` is `timeout` when nobody decided in time; `by` lists everyone who approved."""

    decision: str
    by: str = ""
    comment: str = ""
    data: Any = None

    @property
    def approved(self) -> bool:
        return self.decision == "approve"


class Voting(msgspec.Struct, frozen=True, gc=False):
    """Who must approve, and who may also decide after escalation."""

    required: int = 1
    approvers: tuple[str, ...] = ()
    escalations: tuple[Escalation, ...] = ()


ANYONE = Voting()


class Request(msgspec.Struct, frozen=True, gc=False):
    """What approvers are asked and shown."""

    by: str = ""
    title: str = ""
    form: Raw = ABSENT
    evidence: Raw = ABSENT
    answer: Any = Any
    """The type of the data that approvers return."""
    voting: Voting = ANYONE


def request(name: str, by: str, title: str, form: Any, evidence: Any, voting: Voting) -> Request:
    checked_text(f"by of approve `{name}`", by)
    checked_text(f"title of approve `{name}`", title)
    answer = Any if form is None or isinstance(form, dict) else form
    return Request(by, title, _form(name, cast("object", form)), _evidence(name, evidence), answer, voting)


def voting(name: str, required: int, approvers: Sequence[str], after: Due | None, to: Sequence[str]) -> Voting:
    """Refuses votes that could never reach the required number."""
    if type(required) is not int or not 1 <= required <= _MOST_VOTES:
        raise bad_option(f"required={required!r} of approve `{name}`", f"use a whole number from 1 to {_MOST_VOTES}")
    may, more = _names(f"approvers of approve `{name}`", approvers), _names(f"escalate_to of approve `{name}`", to)
    if bool(more) != (after is not None):
        raise bad_option(f"half an escalation of approve `{name}`", "give both escalate_after and escalate_to")
    if may and required > len({*may, *more}):
        raise bad_option(
            f"required={required} of approve `{name}`, which only {len({*may, *more})} people may decide",
            "require fewer, or name more approvers",
        )
    return Voting(required, may, (Escalation(Millis(after.after), more),) if after is not None else ())


def _names(what: str, names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise bad_option(f"{what}: {names!r}", "use a list of names")
    found = tuple(dict.fromkeys(checked_text(what, name) for name in names))
    if "" in found:
        raise bad_option(f"{what}: an empty name", "use the names of their keys")
    return found


def _evidence(name: str, evidence: object) -> Raw:
    try:
        return ABSENT if evidence is None else values.encode(evidence)
    except PlaitError as error:
        raise WorkflowCodeError("NOT_ENCODABLE", f"the evidence of approve `{name}`", why=str(error)) from None


def _form(name: str, form: object) -> Raw:
    """The JSON Schema of a form: derived from a Python type, or as given."""
    if form is None:
        return ABSENT
    try:
        document = cast("object", form) if isinstance(form, dict) else msgspec.json.schema(form)
        schema.compiled(raw := values.encode(document))
    except (TypeError, InvalidInput, TooLarge) as error:
        raise bad_option(f"form of approve `{name}`: {error}", "use a dataclass, or a JSON Schema as a dict") from None
    return raw


class ApproveOp(Op[Verdict]):
    kind = "approval"
    returns: Any = Verdict
    __slots__ = ("_due", "_request")

    def __init__(self, scope: Scope, name: str, request: Request, due: Due | None) -> None:
        super().__init__(scope, name, depth=3)
        self._request = request
        self._due = due

    def opened(self) -> OpOpened:
        request, voting = self._request, self._request.voting
        names = [request.by] if request.by else list(voting.approvers)
        replay = self.scope.replay
        return OpOpened(
            self.at,
            "approval",
            replay.after,
            args=request.evidence,
            names=names or None,
            limit=voting.required if voting.required > 1 else None,
            deadline=None if self._due is None else self._due.time(replay.now),
        )

    def begin(self, state: OpState) -> None:
        replay = self.scope.replay
        request, voting = self._request, self._request.voting
        replay.effect(
            RequestApproval(
                self.token,
                request.title or self.name,
                request.by,
                state.deadline,
                request.form,
                request.evidence,
                voting.required,
                voting.approvers,
                voting.escalations,
            )
        )
        if state.deadline is not None:
            replay.effect(SetTimer(self.token, state.deadline))

    def value(self, state: OpState) -> Verdict:
        verdict = values.decode(state.output, Verdict) if state.output else Verdict("timeout")
        if verdict.data is None or self._request.answer is Any:
            return verdict
        return replace(verdict, data=values.decode(values.encode(verdict.data), self._request.answer))
