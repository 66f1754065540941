"""Valid names for a script's parameters."""

from __future__ import annotations

from collections.abc import Sequence

from .environment import bindable
from .errors import AleCompileError, AleError
from .forms import Name
from .reader import read


def checked(names: Sequence[str]) -> Sequence[str]:
    """Refuses a name that is not one plain symbol, is already taken, or occurs twice."""
    seen = set[str]()
    for name in names:
        if not _readable(name):
            raise AleCompileError("bad_parameter", f"name can't be a parameter: {name}")
        if name in seen:
            raise AleCompileError("name_bound", f"name already bound: {name}")
        seen.add(name)
    return names


def _readable(name: str) -> bool:
    try:
        forms = read(name)
        return len(forms) == 1 and isinstance(forms[0], Name) and bindable(forms[0]) == name
    except AleError:
        return False
