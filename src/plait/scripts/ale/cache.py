"""A cache of recently used compiled scripts, shared by all threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from .script import Script

MAX_SCRIPTS = 1024
MAX_TEXT = 4 * 1024 * 1024
"""Characters of all texts together: a compiled script takes a few hundred times the space of its text."""


class Cache:
    """Keeps the most recently used scripts, up to a number of scripts and a total length of their texts."""

    def __init__(self, max_scripts: int = MAX_SCRIPTS, max_text: int = MAX_TEXT) -> None:
        self._max_scripts = max_scripts
        self._max_text = max_text
        self._scripts: OrderedDict[tuple[str, tuple[str, ...]], Script] = OrderedDict()
        self._text = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._scripts)

    def get(self, text: str, parameters: Sequence[str] = ()) -> Script:
        """The compiled form of a text. Raises if it can't be compiled; errors are not cached."""
        key = (text, tuple(parameters))
        with self._lock:
            script = self._scripts.get(key)
            if script is not None:
                self._scripts.move_to_end(key)
                return script
        script = Script(text, key[1])
        with self._lock:
            self._keep(key, script)
        return script

    def _keep(self, key: tuple[str, tuple[str, ...]], script: Script) -> None:
        if key not in self._scripts:
            self._text += len(script.text)
        self._scripts[key] = script
        while len(self._scripts) > self._max_scripts or self._text > self._max_text:
            _, oldest = self._scripts.popitem(last=False)
            self._text -= len(oldest.text)
