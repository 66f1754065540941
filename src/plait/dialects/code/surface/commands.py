"""The commands by name. Read for `plait --help`, so this imports nothing else."""

from plait.cli.command import Command

commands: tuple[Command, ...] = ()
extension = "plait.dialects.code.surface.extension:CodeExtension"
