"""Erasures, for administrators: make the values of a subject unreadable, and list the receipts."""

from __future__ import annotations

from plait.api.erasure import EraseSubject, ListReceipts, Receipt, ReceiptPage
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.shape import Scoped

from .call import Call


async def erase(call: Call[Scoped, EraseSubject]) -> Answer:
    body, caller = call.body, call.caller
    return Answer(await call.host.engine.erase(body.subject, call.namespace, by=caller.name, cancel=body.cancel))


async def list_receipts(call: Call[ListReceipts, None]) -> Answer:
    query = call.query
    found = await call.host.engine.encryption.receipts(call.namespace, after=query.cursor, limit=query.limit + 1)
    page = found[: query.limit]
    return Answer(ReceiptPage(receipts=page, next=page[-1].subject if len(found) > query.limit else None))


ROUTES = (
    Route(
        method="POST",
        path="/erasures",
        name="erasures.create",
        role="admin",
        summary="Make all values of a subject's runs permanently unreadable",
        handler=erase,
        query=Scoped,
        body=EraseSubject,
        replies=(Reply(200, Receipt, "The receipt; the same one if the subject was erased before."),),
        faults=(
            Fault(409, "codec.off", "Encryption is off, so there is no key to destroy."),
            Fault(409, "codec.subject_live", "Runs of the subject have not ended."),
        ),
        example={"subject": "customer:42", "cancel": True},
    ),
    Route(
        method="GET",
        path="/erasures",
        name="erasures.list",
        role="admin",
        summary="List the receipts for erasures, by subject",
        handler=list_receipts,
        query=ListReceipts,
        replies=(Reply(200, ReceiptPage, "A page of receipts."),),
    ),
)
