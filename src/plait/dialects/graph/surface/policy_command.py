"""`plait policy`: what graphs of a namespace may do."""

from __future__ import annotations

from typing import Annotated, Any, cast

import msgspec
import typer

from plait.cli.connect import connect
from plait.cli.options import DEFAULT_DB, Json, Key, Namespace, Place, Where, group, read_json
from plait.cli.output import emit, say
from plait.cli.session import do
from plait.dialects.graph.definition.namespace_policy import NO_POLICY, NamespacePolicy

policy = group()

FileArgument = Annotated[str, typer.Argument(metavar="FILE", help="The policy, as JSON.", show_default=False)]


@policy.callback(invoke_without_command=True)
def default(
    ctx: typer.Context, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False
) -> None:
    """What graphs of a namespace may do, beside what they allow themselves. Without a command: show."""
    if ctx.invoked_subcommand is None:
        _show(Where(db, key, namespace), json=json)


@policy.command()
def show(namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False) -> None:
    """Show it."""
    _show(Where(db, key, namespace), json=json)


@policy.command("set")
def set_(
    file: FileArgument, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False
) -> None:
    """Set it, for runs that start from now on. An empty object allows everything."""
    found = do(_set(read_json(f"@{file}", "the policy"), Where(db, key, namespace)))
    if json:
        emit(msgspec.to_builtins(found))
    else:
        say("policy set: it holds for runs that start from now on")


def _show(where: Where, *, json: bool) -> None:
    found = do(_get(where))
    if json:
        emit(msgspec.to_builtins(found))
    elif found == NO_POLICY:
        say("no policy: graphs may do what they allow themselves")
    else:
        say(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())


async def _get(where: Where) -> NamespacePolicy:
    async with connect(where) as session:
        return await cast("Any", session.engine).policies.get(session.namespace)


async def _set(given: Any, where: Where) -> NamespacePolicy:
    async with connect(where, create=True) as session:
        return await cast("Any", session.engine).policies.set(given, session.namespace)
