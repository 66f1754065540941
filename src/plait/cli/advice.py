"""What can be done about a run, as commands to copy."""

from __future__ import annotations

from plait.kernel.ids import DEFAULT_NAMESPACE, caller_id
from plait.kernel.store import RunRow
from plait.kernel.view import Reason, RunView

from . import words
from .extensions import extension_of
from .records import status_of

NO_ENGINE = "no engine is running on this database: nothing moves until one is (`plait run`, or your own program)"


def standing(row: RunRow) -> str:
    match status_of(row):
        case "running":
            return "is running; it waits for:"
        case "blocked":
            return "is blocked: nothing is lost, and it continues when code that fits is loaded"
        case "failed" if row.error is not None:
            return f"has failed: {words.failure(row.error)} [{row.error.code}]"
        case status:
            verb = "was" if status == "cancelled" else "has"
            reason = f": {row.error.message}" if row.error is not None and row.error.message != status else ""
            return f"{verb} {status}{reason}"


def hints(row: RunRow, waiting: list[Reason], *, working: bool | None) -> list[str]:
    """`working`: whether an engine is at work; None if nobody knows."""
    run = run_argument(row)
    found: list[str] = []
    match status_of(row):
        case "failed":
            found.append(f"when the cause is gone: plait retry {run}")
            found.append(f"to see where: plait show {run}")
        case "blocked":
            found += extension_of(row.dialect).blocked_advice(run)
        case "running":
            found += _for_reasons(run, waiting)
            if working is False:
                found.append(NO_ENGINE)
        case _:
            pass
    return found


def compensation_hints(view: RunView) -> list[str]:
    """What could not be undone does not keep a run from ending, so its reasons don't say it."""
    failed = [node.label for node in view.nodes if node.kind == "rollback" and node.status == "failed"]
    return [f"{label} failed; to retry or skip it: plait dlq" for label in failed]


def _for_reasons(run: str, waiting: list[Reason]) -> list[str]:
    found: list[str] = []
    kinds = {reason.kind for reason in waiting}
    if "message" in kinds:
        found.append(f"to send it: plait message {run} NAME JSON")
    if "approval" in kinds:
        found.append(f"to decide: plait approve {run}  (or with --reject)")
    if "callback" in kinds:
        found.append(f"its step server answers at its webhook; or: plait message {run} work:TOKEN JSON")
    return found


def run_argument(row: RunRow) -> str:
    """How a run is named on the command line."""
    import shlex

    name = shlex.quote(caller_id(row.id))
    return name if row.namespace == DEFAULT_NAMESPACE else f"{name} --namespace {row.namespace}"
