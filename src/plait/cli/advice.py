"""Advice on what to do about a run, as commands to copy."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection

from plait.api.run import Action
from plait.kernel.cause import cause_of
from plait.kernel.ids import DEFAULT_NAMESPACE, caller_id
from plait.kernel.store import RunRow
from plait.kernel.view import Reason, RunView

from .extensions import extension_of
from .records import cause_words, status_of

NO_ENGINE = "no engine is running on this database: nothing moves until one is (`plait run`, or your own program)"


def standing(row: RunRow) -> str:
    match status_of(row):
        case "running" | "waiting" as status:
            return f"is {status}:"
        case "blocked":
            return "is blocked: nothing is lost, and it continues when code that fits is loaded"
        case "failed" if row.error is not None:
            return f"has failed: {cause_words(row)} [{row.error.code}]"
        case status:
            verb = "was" if status == "cancelled" else "has"
            reason = f": {row.error.message}" if row.error is not None and row.error.message != status else ""
            return f"{verb} {status}{reason}"


def hints(row: RunRow, waiting: list[Reason], actions: Collection[Action], *, working: bool | None) -> list[str]:
    """Returns advice. `working`: whether an engine is at work; None if unknown."""
    run = run_argument(row)
    found: list[str] = []
    match status_of(row):
        case "failed":
            if "retry" in actions:
                found.append(f"when the cause is gone: plait retry {run}")
            elif "fork" in actions:  # there is no advice on a run whose values were erased
                found.append(f"its steps were compensated; to do some again: plait fork {run} --at STEP")
            found.append(f"to see where: plait show {run}")
            found += _in_child(row)
        case "blocked":
            found += extension_of(row.dialect).blocked_advice(run)
        case "running" | "waiting":
            found += _for_reasons(run, row.namespace, waiting)
            if working is False:
                found.append(NO_ENGINE)
        case _:
            pass
    return found


def _in_child(row: RunRow) -> list[str]:
    """Points to the child run where it failed, if it failed in one."""
    child = None if row.error is None else cause_of(row.error).run
    if child is None:
        return []
    return [f"it failed in its child run: plait show {quoted(child, row.namespace)}"]


def compensation_hints(view: RunView) -> list[str]:
    """Advice on failed compensations: they don't keep a run from ending, so they are not among its reasons."""
    failed = [node.label for node in view.nodes if node.kind == "rollback" and node.status == "failed"]
    return [f"{label} failed; to retry or skip it: plait dlq" for label in failed]


_UNSERVED = re.compile("no worker on queue `([^`]+)`")
_CHILD = re.compile("child(?: run)? `([^`]+)`")


def _named(said: re.Pattern[str], waiting: list[Reason]) -> list[str]:
    """Returns what the pattern matches in the reasons, each once."""
    found = [said.search(reason.text) for reason in waiting]
    return list(dict.fromkeys(each[1] for each in found if each is not None))


def _for_reasons(run: str, namespace: str, waiting: list[Reason]) -> list[str]:
    found: list[str] = []
    kinds = {reason.kind for reason in waiting}
    if "message" in kinds:
        found.append(f"to send it: plait message {run} NAME JSON")
    if "approval" in kinds:
        found.append(f"to decide: plait approve {run}  (or with --reject)")
    found += [
        f"to do its tasks: plait worker MODULE --queue {shlex.quote(queue)}" for queue in _named(_UNSERVED, waiting)
    ]
    found += [f"to see what that waits for: plait why {quoted(child, namespace)}" for child in _named(_CHILD, waiting)]
    if "callback" in kinds:
        found.append(f"its step server answers at its webhook; or: plait message {run} work:TOKEN JSON")
    return found


def run_argument(row: RunRow) -> str:
    """Returns the arguments that name a run on the command line."""
    return quoted(caller_id(row.id), row.namespace)


def quoted(id: str, namespace: str) -> str:
    name = shlex.quote(id)
    return name if namespace == DEFAULT_NAMESPACE else f"{name} --namespace {namespace}"
