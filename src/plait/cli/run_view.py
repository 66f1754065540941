"""A run as a tree of its operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.text import Text
from rich.tree import Tree

from plait.kernel.ids import Millis
from plait.kernel.view import Node, Reason, RunView

from . import words
from .extensions import extension_of
from .output import STYLES

MARKS = {
    "completed": "✓",
    "failed": "✗",
    "cancelled": "-",
    "skipped": "-",
    "blocked": "■",
    "running": "●",
    "waiting": "◌",
    "retrying": "↻",
    "pending": "·",
}
FEW = 8
"""Maximum number of finished siblings to show before they are folded."""


def tree(
    view: RunView, waiting: Iterable[Reason], now: Millis, *, title: Text | None = None, few: int | None = FEW
) -> Tree:
    """Makes the tree: `few` finished siblings and all unfinished ones; None: all."""
    root = Tree(title or Text(view.run_id, style="bold"), guide_style="bright_black")
    below: dict[str | None, list[Node]] = {}
    for node in nodes(view):
        below.setdefault(node.parent, []).append(node)
    reasons: dict[str | None, Reason] = {reason.node: reason for reason in waiting if reason.node is not None}
    _grow(root, None, below, reasons, now, few)
    return root


def nodes(view: RunView) -> list[Node]:
    """Returns the operations, in the dialect's order."""
    return extension_of(view.dialect).nodes(view)


def loose(view: RunView, waiting: Iterable[Reason]) -> list[str]:
    """Returns reasons that belong to no operation of the tree."""
    known = {node.id for node in view.nodes}
    return [reason.text for reason in waiting if reason.node not in known]


def _grow(
    branch: Tree,
    parent: str | None,
    below: Mapping[str | None, list[Node]],
    reasons: Mapping[str | None, Reason],
    now: Millis,
    few: int | None,
) -> None:
    siblings = below.get(parent, [])
    hidden = _folded(siblings, few)
    if hidden:
        branch.add(Text(f"… {words.counted(len(hidden), 'finished operation')} before", style="bright_black"))
    for node in siblings:
        if node.id not in hidden:
            twig = branch.add(line(node, reasons.get(node.id), now))
            _grow(twig, node.id, below, reasons, now, few)


def _folded(nodes: list[Node], few: int | None) -> set[str]:
    done = [node.id for node in nodes if node.status in ("completed", "cancelled", "skipped")]
    return set() if few is None or len(done) <= few + 1 else set(done[:-few])


def line(node: Node, reason: Reason | None, now: Millis, *, whole: bool = False) -> Text:
    """Formats one operation: its mark, its path below its parent (or the whole path), its kind, and its details."""
    text = Text.assemble((f"{MARKS[node.status]} ", STYLES[node.status]))
    text.append(_name(node, whole=whole), style="bold" if node.ended_at is None else "")
    text.append(f"  {node.kind}", style="bright_black")
    for part in _details(node, reason, now):
        text.append(f"  {part}")
    return text


def _name(node: Node, *, whole: bool) -> str:
    if node.kind == "rollback":
        return node.label  # its id is a token
    if whole or node.parent is None:
        return node.path or node.id
    if not node.path and not node.id.startswith(f"{node.parent}/"):
        return node.label or node.id  # ids that say nothing to people
    within = node.id.removeprefix(f"{node.parent}/")
    return " / ".join(node.path.split(" / ")[-1 - within.count("/") :]) if node.path else within


def _details(node: Node, reason: Reason | None, now: Millis) -> list[str]:
    found: list[str] = []
    if node.attempts > 1:
        found.append(f"attempt {node.attempts}" if node.ended_at is None else f"{node.attempts} attempts")
    if node.started_at is not None and node.kind not in ("version", "removed") and not _cut_off(node):
        found.append(words.duration((node.ended_at or now) - node.started_at))
    if node.kind == "race" and node.output is not None:
        found.append(f"won by {node.output['winner']}")
    if node.detail and node.kind not in ("join", "race", "loop"):
        found.append(node.detail)
    if node.skip_reason:
        found.append(node.skip_reason)
    if reason is not None and reason.kind not in ("step", "child"):
        found.append(_said_at(node, reason))
    elif node.error is not None and node.status in ("failed", "retrying"):
        found.append(words.one_line(words.failure(node.error)))
    return found


def _cut_off(node: Node) -> bool:
    return node.status == "cancelled" and node.ended_at is None


def _said_at(node: Node, reason: Reason) -> str:
    """Returns a reason without the parts that its place in the tree already tells."""
    text = words.one_line(reason.text).replace(f" (`{node.id}`)", "", 1).replace(f" of `{node.id}`", "", 1)
    return text.removeprefix(f"{node.kind} ").removeprefix(f"`{node.id}` " if node.kind != "message" else "")


def progress(view: RunView) -> str:
    """Returns how many operations there are, and how many are done."""
    leaves = [node for node in view.nodes if node.kind not in ("join", "race", "loop", "init")]
    done = sum(node.ended_at is not None for node in leaves)
    return f"{done} of {len(leaves)}" if done < len(leaves) else f"{done}"


def current(view: RunView, waiting: list[Reason]) -> str:
    """Returns what a run is doing, in a few words."""
    if waiting:
        return words.one_line(waiting[0].text) + (f" (+{len(waiting) - 1})" if len(waiting) > 1 else "")
    return ""
