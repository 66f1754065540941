"""Envelopes: a task in transit is `{token, signature, signed_by}`, signed with the key of its namespace."""

from __future__ import annotations

from typing import Any, cast

from plait.api.claim_id import ClaimId
from plait.api.task import QueueTask
from plait.definitions.hashing import canonical
from plait.kernel.ids import Millis

from .signing_keys import SigningKey

VALID_FOR = Millis(600_000)
"""Validity of an envelope in milliseconds: longer than any stays in a stream, with room for clock differences."""


def token_of(task: QueueTask, claim: ClaimId, now: Millis) -> dict[str, Any]:
    """The content for a worker. Names are those of token choreography, also for other dialects' tasks."""
    input = _handler_input(task.input)
    token: dict[str, Any] = {
        "token_id": claim.token,
        "job_id": task.id,
        "tenant_id": task.namespace,
        "run_id": task.run_id,
        "to_node": task.node,
        "handler": task.handler,
        "payload": input.get("payload", input.get("arguments")),
        "attempt": task.attempt,
        "idempotency_key": task.key,
        "created_at": now,
        "expires_at": now + VALID_FOR,
    }
    further: dict[str, Any] = {name: input[name] for name in ("config", "context") if name in input}
    return input.get("token", {}) | further | token


def _handler_input(given: dict[str, Any]) -> dict[str, Any]:
    """A node's handler gets more than its payload, as one argument."""
    arguments = cast("dict[str, Any]", given.get("arguments"))  # or a list, for other tasks
    return arguments if type(arguments) is dict and {"token_id", "payload"} <= set(arguments) else given


def seal(token: dict[str, Any], key: SigningKey) -> bytes:
    """The signed envelope in canonical form: parsers that keep numbers as they are can verify it as it is."""
    return canonical({"token": token, "signature": key.sign(token), "signed_by": key.id})
