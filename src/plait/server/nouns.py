"""What the ids in the server's own paths name, and the errors for ids that do not exist."""

from __future__ import annotations

from plait.api.noun import Noun

DEFINITION = Noun(
    "definition", "definitions.unknown", "there is no definition `{}`", fix="GET /api/v1/definitions lists them"
)
TEXT = Noun("text", "definitions.no_text", "there is no text {}", fix="send it to PUT /api/v1/blobs/HASH")
APPROVAL = Noun(
    "approval", "kernel.no_approval", "there is no approval {}", fix="`plait approvals --status all` lists them"
)
DEAD_LETTER = Noun("dead_letter", "kernel.no_dead_letter", "there is no dead letter {}", fix="`plait dlq` lists them")
SCHEDULE = Noun(
    "schedule",
    "schedule.unknown",
    "there is no schedule {}",
    fix="`plait schedules` lists them",
    character=r"[A-Za-z0-9_.-]",
    max_length=100,
)
QUEUE = Noun("queue", "queue.unknown", "there is no queue `{}`", fix="`plait queues` lists them")
KEY = Noun("key", "auth.no_such_key", "there is no key {}", fix="`plait keys` lists them")
LINK = Noun("link", "auth.bad_link", "invalid link", fix="copy the whole link, or ask for a new one")
