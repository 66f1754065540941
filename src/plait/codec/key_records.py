"""Stores keys as records, wrapped.

codec.state   ""         on              a text that only the right master key opens
codec.key     ""         <key id>        a data key, wrapped by a master key or by the namespace's data key
codec.scope   namespace  namespace       the ids of its data keys, the newest last
codec.scope   namespace  subject:<name>  the same for one subject; or the receipt for its erasure
codec.receipt namespace  subject:<name>  a copy of the receipt, which makes a second one impossible
codec.unused  namespace  <time>/<name>   a run of the subject was removed then: a single run's key may be deleted
codec.kept    namespace  subject:<name>  a run of the subject was archived: its key stays
codec.changed ""         last            changes with each rotation and erasure, so that other processes notice
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from plait.api.erasure import Receipt
from plait.kernel import values
from plait.kernel.ids import Millis, RunId, Shard
from plait.kernel.record import read_body
from plait.kernel.store import Record, RecordChange, Write

from .scope import Scope

OWN = "codec."
"""The prefix of the kinds of these records, which are not encrypted again."""
STATE = ("codec.state", "", "on")
CHANGED = ("codec.changed", "", "last")
KEY, RECEIPT, UNUSED, KEPT = "codec.key", "codec.receipt", "codec.unused", "codec.kept"
_SCOPE = "codec.scope"
SUBJECT = "subject:"
"""The prefix before the name of a subject."""

B = TypeVar("B", bound=msgspec.Struct)


class StateBody(msgspec.Struct, frozen=True):
    by: str
    """The master key that wraps `check`."""
    check: bytes


class KeyBody(msgspec.Struct, frozen=True, omit_defaults=True):
    namespace: str
    created_at: Millis
    subject: str | None = None
    by: str = ""
    """What wraps it: a master key; for a subject, the id of a data key."""
    wrapped: bytes | None = None
    erased_at: Millis | None = None

    @property
    def scope(self) -> Scope:
        return Scope(self.namespace, self.subject)


class ScopeBody(msgspec.Struct, frozen=True, omit_defaults=True):
    keys: list[str]
    receipt: Receipt | None = None


def key_name(key_id: bytes) -> tuple[str, str, str]:
    return (KEY, "", key_id.hex())


def scope_name(scope: Scope) -> tuple[str, str, str]:
    return (_SCOPE, scope.namespace, "namespace" if scope.subject is None else SUBJECT + scope.subject)


def receipt_name(scope: Scope) -> tuple[str, str, str]:
    return (RECEIPT, scope.namespace, SUBJECT + (scope.subject or ""))


def kept_name(scope: Scope) -> tuple[str, str, str]:
    return (KEPT, scope.namespace, SUBJECT + (scope.subject or ""))


def record(name: tuple[str, str, str], body: msgspec.Struct | str, at: Millis) -> Record:
    return Record(*name, body=msgspec.Raw(values.plain(body)), at=at)


def body_of(found: Record, type: type[B]) -> B:
    return read_body(found, type)


def write_of(changes: Sequence[RecordChange]) -> Write:
    """Makes one atomic write of these changes."""
    first = changes[0].record
    return Write(RunId(f"~{first.kind}/{first.namespace}/{first.id}"), Shard(0), None, records=changes)


def change_notice(now: Millis) -> RecordChange:
    """Returns the change that must be part of every write that invalidates other processes' cached keys."""
    return RecordChange(record(CHANGED, os.urandom(16).hex(), now), "put", news=True)
