"""The commands by name. Read for `plait --help`, so this imports nothing else."""

from plait.cli.command import Command

commands: tuple[Command, ...] = (
    Command(
        "Run",
        "record",
        "Record tool calls as a workflow: start, stop, save.",
        "plait.dialects.refs.surface.record_command:record",
    ),
)
extension = "plait.dialects.refs.surface.extension:RefsExtension"
