"""The commands by name. Read for `plait --help`, so this imports nothing else."""

from plait.cli.command import Command

commands = (
    Command(
        "Run",
        "afl",
        "AFL programs: check, compile, run, format, edit.",
        "plait.dialects.afl.surface.afl_command:afl",
    ),
)
extension = "plait.dialects.afl.surface.extension:AflExtension"
