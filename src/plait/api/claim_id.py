"""The id that a worker reports with: everything needed to find the row and to prove the claim, in one text."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from plait.kernel.errors import NotFound
from plait.kernel.ids import DEFAULT_NAMESPACE, RunId, TaskToken
from plait.kernel.queued import Claim, QueuedTask

from .noun import Noun

# Anyone can send an id, so numbers that no row can have must not reach the database
_Opening = Annotated[int, Meta(ge=1, le=2**63 - 1)]
_Attempt = Annotated[int, Meta(ge=1, le=2**31 - 1)]
_ClaimKey = Annotated[str, Meta(pattern=r"^[0-9A-Za-z_-]*\Z")]


class ClaimId(msgspec.Struct, frozen=True, array_like=True):
    run_id: RunId
    token: TaskToken
    opening: _Opening
    attempt: _Attempt
    claim: _ClaimKey

    @classmethod
    def of(cls, task: QueuedTask, claim: str) -> ClaimId:
        return cls(task.run_id, task.token, task.opening, task.attempt, claim)

    def text(self) -> str:
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).decode().rstrip("=")

    def job_id(self) -> str:
        """The id of the attempt: the same for every claim of it."""
        return msgspec.structs.replace(self, claim="").text()

    @property
    def held(self) -> Claim:
        return Claim(self.run_id, self.token, self.claim, self.opening, self.attempt)

    @property
    def namespace(self) -> str:
        return self.run_id.rpartition("/")[0] or DEFAULT_NAMESPACE


TASK: Final = Noun(
    "task",
    "task.unknown",
    "there is no such task",
    why="its id is malformed, or belongs to another namespace or queue",
    fix="send the id that the claim gave, unchanged",
)

_claim_id = msgspec.json.Decoder(ClaimId)


def read(text: str, namespace: str) -> ClaimId:
    """Decodes an id; refuses one of another namespace like one that does not exist."""
    found = _read(text)
    if found.namespace != namespace:
        raise unknown_task()
    return found


def _read(text: str) -> ClaimId:
    try:
        found = _claim_id.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, ValueError, msgspec.DecodeError):
        raise unknown_task() from None
    if "\0" in found.run_id or "\0" in found.token:
        raise unknown_task()
    return found


def namespace_of(text: str) -> str:
    """Returns the namespace of an id that came from a claim."""
    return _read(text).namespace


def unknown_task() -> NotFound:
    return TASK.missing("")
