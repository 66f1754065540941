"""Rules for the names of definitions, versions and tags.

They apply to what is saved from now on. A lookup does not check them: an impossible name is simply unknown.
"""

from __future__ import annotations

import re

from plait.kernel import values
from plait.kernel.errors import InvalidInput

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_VERSION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")
_TAG_LENGTH = 100


def check_name(name: object) -> str:
    """Allows letters, digits, `_`, `.` and `-`, because names are used in addresses, in labels and before an `@`."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidInput(
            "definitions.bad_name",
            f"definition name {str(name)[:80]!r} is not usable",
            fix="use 1 to 128 letters, digits, `_`, `.` or `-`, the first a letter, a digit or `_`",
        )
    return name


def check_version(version: object) -> str:
    """Checks the label that an author gives a version."""
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise InvalidInput(
            "definitions.bad_version",
            f"version {str(version)[:80]!r} is not usable",
            fix="use 1 to 100 letters, digits, `_`, `.`, `+` or `-`, the first a letter, a digit or `_`",
        )
    return version


def check_tag(tag: object) -> str:
    found = values.text("the tag", tag, max_length=_TAG_LENGTH)
    if not found or "@" in found or "/" in found:
        raise InvalidInput(
            "definitions.bad_tag",
            f"tag {found!r} is not usable",
            fix=f"use 1 to {_TAG_LENGTH} characters without `@` and `/`",
        )
    return found
