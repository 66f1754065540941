"""The stored versions that this engine can read: the same major, and not a newer minor."""

from __future__ import annotations

from plait.dialects.afl.names import RUNTIME_VERSION, STEP_SCHEMA_VERSION
from plait.kernel.errors import Conflict

from .state import AflStart


def check_readable(start: AflStart) -> None:
    for what, stored, own in (
        ("runtime", start.runtime_version, RUNTIME_VERSION),
        ("step schema", start.step_schema_version, STEP_SCHEMA_VERSION),
    ):
        if not readable(stored, own):
            raise Conflict(
                "AFL_VERSION",
                f"needs AFL {what} {stored}",
                why=f"the run was stored by version {stored}; this engine has {own}",
                fix="use a Plait release that has it; the run stays as it is until then",
            )


def readable(stored: str, own: str) -> bool:
    try:
        (major, minor), (own_major, own_minor) = (tuple(map(int, each.split(".")[:2])) for each in (stored, own))
    except ValueError:
        return False
    return major == own_major and minor <= own_minor
