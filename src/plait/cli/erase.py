"""`plait erase`: makes the values of one subject unreadable, and prints the receipt."""

from __future__ import annotations

from typing import Annotated

import typer

from plait.api.erasure import Receipt

from . import words
from .connect import connect
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where
from .output import emit, facts, note
from .session import do


def erase(
    subject: Annotated[
        str, typer.Option(metavar="SUBJECT", help="The subject that runs were started with.", show_default=False)
    ],
    cancel: Annotated[bool, typer.Option("--cancel", help="Cancel runs that have not ended.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask for confirmation.")] = False,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Make every value of a subject's runs permanently unreadable.

    The key that they are encrypted with is destroyed; the runs stay in lists, without values. Erasing again prints
    the same receipt. Backups that were made before hold the key: delete them, or let them expire.
    """
    if not (yes or json):
        typer.confirm(f"Erase all values of {subject}? This can't be undone", abort=True, err=True)
    receipt = do(_erase(subject, Where(db, key, namespace), cancel=cancel))
    if json:
        emit(receipt)
    else:
        _say(receipt)


async def _erase(subject: str, where: Where, *, cancel: bool) -> Receipt:
    async with connect(where) as session:
        return await session.engine.erase(subject, session.namespace, by=session.me, cancel=cancel)


def _say(receipt: Receipt) -> None:
    shown = ", ".join(receipt.run_ids[:5]) + (", …" if receipt.runs > 5 else "")
    facts(
        [
            ("erased", receipt.subject),
            ("namespace", receipt.namespace),
            ("at", words.clock(receipt.at)),
            ("by", receipt.by or None),
            ("runs", f"{receipt.runs:,}: {shown}" if receipt.runs else "none"),
            ("keys destroyed", ", ".join(receipt.keys) or "none: nothing was encrypted for this subject"),
            ("receipt", receipt.id),
        ]
    )
    if receipt.unencrypted:
        names = ", ".join(receipt.unencrypted[:5]) + (", …" if len(receipt.unencrypted) > 5 else "")
        note(f"not erased, because they began before encryption was on: {names}", "red")
    note("backups from before can still be read: delete them, or let them expire", "yellow")
