"""The commands by name. Read for `plait --help`, so nothing else is imported here."""

from plait.cli.command import Command

commands: tuple[Command, ...] = ()
extension = "plait.dialects.graph.surface.extension:GraphExtension"
