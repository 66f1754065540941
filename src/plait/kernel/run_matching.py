"""Whether a run belongs in a list, decided without the store: live lists check it on each commit."""

from __future__ import annotations

from . import run_text
from .store import RunFilter, RunRow


def matches(query: RunFilter, row: RunRow) -> bool:
    """Matches like the store, apart from the limit and from whether the run's parent failed."""
    return (
        (query.namespace is None or row.namespace == query.namespace)
        and _has_status(query.statuses, row)
        and (query.dialect is None or row.dialect == query.dialect)
        and (query.definition is None or row.definition == query.definition)
        and (query.parent is None or row.parent == query.parent)
        and all(row.labels.get(key) == value for key, value in (query.labels or {}).items())
        and (query.id_prefix is None or row.id.startswith(query.id_prefix))
        and (query.since is None or row.created_at >= query.since)
        and (query.until is None or row.created_at < query.until)
        and (query.after is None or (row.created_at, row.id) < query.after)
        and (not query.text or mentions(row, query.text))
    )


def mentions(row: RunRow, text: str) -> bool:
    """Whether a text search finds the run."""
    folded = run_text.fold(text)
    if folded in run_text.fold(row.definition):
        return True
    if any(row.id.startswith(beginning) for beginning in run_text.beginnings(row.namespace, text)):
        return True
    if len(folded) < run_text.SHORTEST:
        return False
    error = row.error or row.blocked
    return folded in run_text.about(row.id, row.labels) or (error is not None and folded in run_text.of_error(error))


def _has_status(statuses: list[str] | None, row: RunRow) -> bool:
    if statuses is None or row.status in statuses:
        return True
    return _SHOWN[row.phase] in statuses or (row.blocked is not None and "blocked" in statuses)


_SHOWN = {"running": "working", "waiting": "waiting", "blocked": "blocked", "ended": ""}
