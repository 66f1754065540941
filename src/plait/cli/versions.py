"""`plait version`."""

from __future__ import annotations

import importlib.metadata
import platform

from plait import __version__

from .options import Json
from .output import emit, say


def parts() -> dict[str, str]:
    """Returns the versions of everything that Plait runs on."""
    import apsw

    found = {"python": platform.python_version(), "sqlite": apsw.sqlite_lib_version()}
    for name in ("msgspec", "uvloop", "asyncpg"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def version(json: Json = False) -> None:
    """Print the versions of Plait and its parts."""
    if json:
        emit({"plait": __version__, **parts()})
    else:
        say(f"plait {__version__} ({', '.join(f'{name} {number}' for name, number in parts().items())})")
