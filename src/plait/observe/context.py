"""In which HTTP request some code runs. (In which attempt of which step, the kernel's `worker.here` says.)

It lives in a context variable and so follows the code through awaits. The engine's own tasks never start in the
context of a request: a step that a request caused does not claim its id.
"""

from __future__ import annotations

import re
import secrets
from contextlib import AbstractContextManager
from typing import Any

from structlog.contextvars import bound_contextvars

_USABLE = re.compile(r"[A-Za-z0-9._:-]{1,64}")


def in_request(request_id: str, **fields: Any) -> AbstractContextManager[None]:
    """Everything that is logged inside carries the request's id, and other fields if they are given."""
    return bound_contextvars(request_id=request_id, **fields)


def request_id(given: str | None = None) -> str:
    """The id that came with a request, if it can be used in a log; else a new one."""
    return given if given is not None and _USABLE.fullmatch(given) else secrets.token_hex(8)
