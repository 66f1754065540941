"""The commands by name. Read for `plait --help`, so this imports nothing else."""

from plait.cli.command import Command

commands = (
    Command(
        "Inspect",
        "catalog",
        "Steps that goals are planned with: list, show, rm.",
        "plait.dialects.goals.surface.catalog_command:catalog",
    ),
)
extension = "plait.dialects.goals.surface.extension:GoalsExtension"
