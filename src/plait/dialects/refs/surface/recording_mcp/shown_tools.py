"""The tools of other servers, as a recording shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from plait.dialects.refs.recording.widened_schema import widened

Offered = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Tools by server and name, each as its server describes it."""

OWN: Final = "plait"
"""The engine's own tools, which are not recorded unless somebody wants them."""


class ShownTool(NamedTuple):
    name: str
    """As it is called: its bare name, or `<server>_<tool>` if another server has one of that name."""
    server: str
    bare: str
    description: Mapping[str, Any]

    @property
    def read_only(self) -> bool:
        annotations: Mapping[str, Any] = self.description.get("annotations") or {}
        return bool(annotations.get("readOnlyHint"))

    def document(self) -> dict[str, Any]:
        """With references allowed, and nothing said of its output: a client would check results against that."""
        found = {key: value for key, value in self.description.items() if key != "outputSchema"}
        schema = self.description.get("inputSchema") or {"type": "object"}
        return {**found, "name": self.name, "inputSchema": widened(schema)}


def shown_tools(offered: Offered, servers: Sequence[str] | None) -> dict[str, ShownTool]:
    """By the name that they are called by."""
    wanted = [server for server in offered if server != OWN or (servers is not None and OWN in servers)]
    counts = Counter(name for server in wanted for name in offered[server])
    found: dict[str, ShownTool] = {}
    for server in wanted:
        for bare, description in offered[server].items():
            name = bare if counts[bare] == 1 else f"{server}_{bare}"
            found[name] = ShownTool(name, server, bare, description)
    return found
