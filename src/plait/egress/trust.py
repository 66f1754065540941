"""The trusted certificate authorities: the public ones (or those in SSL_CERT_FILE), and the operator's."""

from __future__ import annotations

import os
import ssl
from functools import cached_property

from plait.extras import extra
from plait.kernel.errors import InvalidInput


class Trust:
    """Loads the public authorities with the first https request, because that is slow. A bad file raises at once."""

    def __init__(self, ca_file: str | None) -> None:
        self._ca_file = ca_file
        if ca_file is not None:
            self._add_to(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))

    @cached_property
    def context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE") or _public())
        self._add_to(context)
        return context

    def _add_to(self, context: ssl.SSLContext) -> None:
        if self._ca_file is None:
            return
        try:
            context.load_verify_locations(self._ca_file)
        except OSError as error:  # ssl.SSLError is one
            raise InvalidInput(
                "egress.bad_settings", f"ca_file {self._ca_file} can't be used", why=str(error), fix="name a PEM file"
            ) from None


def _public() -> str:
    with extra("http", "HTTPS"):
        import certifi
    return certifi.where()
