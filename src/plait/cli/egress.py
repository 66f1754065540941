"""Reads from the environment which addresses steps may call."""

from __future__ import annotations

from collections.abc import Mapping

from plait.egress import EgressSettings
from plait.kernel.errors import InvalidInput

_YES, _NO = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


def egress_of(environment: Mapping[str, str], *, private: bool = False) -> EgressSettings:
    """Reads PLAIT_EGRESS_PRIVATE, and lists separated by commas: PLAIT_EGRESS_ALLOW and PLAIT_EGRESS_DENY of hosts,
    PLAIT_EGRESS_OPEN of networks. `private`: the default if the environment does not set it."""
    return EgressSettings(
        private=_flag(environment, "PLAIT_EGRESS_PRIVATE", private),
        allow_hosts=_list(environment, "PLAIT_EGRESS_ALLOW"),
        deny_hosts=_list(environment, "PLAIT_EGRESS_DENY"),
        open_addresses=_list(environment, "PLAIT_EGRESS_OPEN"),
    )


def _flag(environment: Mapping[str, str], name: str, default: bool) -> bool:
    text = environment.get(name)
    if text is None:
        return default
    if text.strip().lower() not in (*_YES, *_NO):
        raise InvalidInput("cli.bad_setting", f"{name}={text!r}", fix="use 1 or 0")
    return text.strip().lower() in _YES


def _list(environment: Mapping[str, str], name: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in environment.get(name, "").split(",") if part.strip())
