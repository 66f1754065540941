"""The commands by name. Read for `plait --help`, so nothing else is imported here."""

from plait.cli.command import Command

commands = (
    Command(
        "Maintain",
        "policy",
        "What graphs of a namespace may do: show, set.",
        "plait.dialects.graph.surface.policy_command:policy",
    ),
)
extension = "plait.dialects.graph.surface.extension:GraphExtension"
