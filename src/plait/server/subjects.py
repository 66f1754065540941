"""Subjects: erase the values of one, and show the receipt. For administrators."""

from __future__ import annotations

from plait.api.erasure import EraseSubject, Receipt
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.shape import Scoped

from .call import Call
from .nouns import SUBJECT

_OFF = Fault(409, "codec.off", "Encryption is off, so there is no key to destroy.")


async def erase(call: Call[Scoped, EraseSubject]) -> Answer:
    subject = call.params["subject"]
    receipt = await call.host.engine.erase(subject, call.namespace, by=call.caller.name, cancel=call.body.cancel)
    return Answer(receipt)


async def show(call: Call[Scoped, None]) -> Answer:
    subject = call.params["subject"]
    receipt = await call.host.engine.encryption.receipt(call.namespace, subject)
    if receipt is None:
        raise SUBJECT.missing(subject)
    return Answer(receipt)


ROUTES = (
    Route(
        method="POST",
        path="/subjects/{subject}/erase",
        name="subjects.erase",
        role="admin",
        summary="Make all values of a subject's runs unreadable, for good",
        handler=erase,
        query=Scoped,
        body=EraseSubject,
        body_optional=True,
        replies=(Reply(200, Receipt, "The receipt; the same one if the subject was erased before."),),
        faults=(_OFF, Fault(409, "codec.subject_live", "Runs of the subject have not ended.")),
        noun=SUBJECT,
        example={"cancel": True},
    ),
    Route(
        method="GET",
        path="/subjects/{subject}/receipt",
        name="subjects.receipt",
        role="admin",
        summary="Show the receipt for an erasure",
        handler=show,
        query=Scoped,
        replies=(Reply(200, Receipt, "The receipt."),),
        faults=(_OFF, Fault(404, "codec.not_erased", "The subject was not erased.")),
        noun=SUBJECT,
    ),
)
