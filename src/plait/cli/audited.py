"""Records changes made directly on the database in the audit log as well, under the user name of the system."""

from __future__ import annotations

import getpass

from plait.api.caller import EVERYWHERE, Caller
from plait.registry.engine import Engine
from plait.server.auth import Audit


async def note_change(engine: Engine, action: str, target: str, namespace: str) -> None:
    try:
        me = getpass.getuser()
    except (KeyError, OSError):
        me = "somebody"
    caller = Caller(me, "admin", EVERYWHERE, "open", id="cli")
    await Audit(engine.records, engine.kernel.clock).record(caller, action, target, "ok", namespace=namespace)
