"""`plait save`: saves a definition as a version of a name, by which it can be started."""

from __future__ import annotations

from typing import Annotated

import typer

from plait.api.definition import SavedVersion
from plait.definitions.saved import Saved

from .connect import connect
from .definition_files import DefinitionFile, must_be_definition
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where
from .output import document, emit, note, say
from .session import do

Expected = Annotated[
    str | None,
    typer.Option("--expected", metavar="VERSION", help="Only if it is at this version now.", show_default=False),
]


def save(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name to start it by.", show_default=False)],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The definition: JSON, or source such as .afl.", show_default=False)
    ],
    breaking: Annotated[bool, typer.Option("--breaking", help="Take the next major version.")] = False,
    expected: Expected = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Save a definition as the next version of a name. Existing runs keep their version. Saving the
    same again changes nothing."""
    found = must_be_definition(file)
    saved = do(_save(found, name, Where(db, key, namespace), breaking=breaking, expected=expected))
    version, warnings = saved_facts(saved)
    if json:
        emit(document(name=name, version=version, warnings=warnings))
        return
    for warning in warnings:
        note(f"warning: {warning}")
    say(f"saved {name}@{version}")


async def _save(
    found: DefinitionFile, name: str, where: Where, *, breaking: bool, expected: str | None
) -> Saved | SavedVersion:
    async with connect(where, create=True) as session:
        return await session.engine.definitions.save(
            found.dialect, name, found.content, breaking=breaking, expected=expected, namespace=session.namespace
        )


def saved_facts(saved: Saved | SavedVersion) -> tuple[str, list[str]]:
    """Returns the version, and the probable mistakes that its dialect found."""
    if isinstance(saved, Saved):
        return saved.version.version, [*saved.warnings]
    return saved.version, saved.warnings
