"""Those who want to know when something about steps has changed in memory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection

log = logging.getLogger("plait.goals")

Watcher = Callable[[str, Collection[str]], object]
"""Gets the namespace and the ids of the steps that changed there; must be quick."""


class Watchers:
    def __init__(self) -> None:
        self._watchers: list[Watcher] = []

    def add(self, watcher: Watcher) -> Callable[[], None]:
        """Until what is returned is called."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def tell(self, namespace: str, step_ids: Collection[str]) -> None:
        for watcher in tuple(self._watchers) if step_ids else ():
            try:
                watcher(namespace, step_ids)
            except Exception:
                log.exception("someone who watches the steps failed")
