"""The tools of other servers, as a recording shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from plait.dialects.refs.recording.widened_schema import widened

Offered = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Tools by server and name, each as its server describes it."""

OWN: Final = "plait"
"""The server name of the engine's own tools, which are only recorded on request."""


class ShownTool(NamedTuple):
    name: str
    """The shown name: its bare name, or `<server>_<tool>` if another server has a tool of that name."""
    server: str
    bare: str
    description: Mapping[str, Any]

    @property
    def read_only(self) -> bool:
        annotations: Mapping[str, Any] = self.description.get("annotations") or {}
        return bool(annotations.get("readOnlyHint"))

    def document(self) -> dict[str, Any]:
        """Allows references, and has no output schema: a client would check results against it."""
        found = {key: value for key, value in self.description.items() if key != "outputSchema"}
        schema = self.description.get("inputSchema") or {"type": "object"}
        return {**found, "name": self.name, "inputSchema": widened(schema)}


def shown_tools(offered: Offered, servers: Sequence[str] | None) -> dict[str, ShownTool]:
    """Tools by their shown names."""
    wanted = [server for server in offered if server != OWN or (servers is not None and OWN in servers)]
    counts = Counter(name for server in wanted for name in offered[server])
    found: dict[str, ShownTool] = {}
    for server in wanted:
        for bare, description in offered[server].items():
            name = bare if counts[bare] == 1 else f"{server}_{bare}"
            found[name] = ShownTool(name, server, bare, description)
    return found
