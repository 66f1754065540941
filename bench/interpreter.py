"""Which Python the figures are of: how it was built moves them, so Plait and its peers must run with the same one."""

from __future__ import annotations

import platform
import sys
import sysconfig
from typing import Any


def facts() -> dict[str, Any]:
    return {
        "version": platform.python_version(),
        "path": sys.base_prefix,
        "compiler": platform.python_compiler(),
        "enable_optimizations": _configured_with("--enable-optimizations"),
        "lto": _configured_with("--with-lto"),
    }


def identity() -> str:
    """What an environment that was made with it depends on."""
    return f"{sys.base_prefix} {sys.version}"


def description() -> str:
    """One line for people."""
    if _configured_with("--enable-optimizations"):
        build = "an optimised build (--enable-optimizations)"
    else:  # Debian, for one, optimises its Python all the same, and leaves that out of the configuration
        build = "not configured with --enable-optimizations, so perhaps not an optimised build"
    return f"Python {platform.python_version()} of {sys.base_prefix} for all subjects: {build}."


def _configured_with(option: str) -> bool:
    return option in str(sysconfig.get_config_var("CONFIG_ARGS") or "")
