"""The cursor of a page: the place where the page before ended, as text that callers send back unchanged."""

from __future__ import annotations

import base64
import binascii

import msgspec

from plait.kernel import values
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import Millis


def cursor_of(at: Millis, id: str) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode((at, id))).decode().rstrip("=")


def place_of(cursor: str) -> tuple[Millis, str]:
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        at, id = msgspec.json.decode(raw, type=tuple[int, str])
        return Millis(at), values.text("the cursor", id)
    except (binascii.Error, ValueError, InvalidInput):
        raise InvalidInput(
            "http.bad_cursor", "invalid cursor", fix="use `next` of the previous page unchanged"
        ) from None
