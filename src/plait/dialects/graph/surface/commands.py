"""The commands by name. Read for `plait --help`, so this imports nothing else."""

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
