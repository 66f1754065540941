"""A little OIDC issuer on loopback: real HTTP, real keys, and every kind of trouble."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import time
from types import TracebackType
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

AUDIENCE = "plait"
_SIGNERS: dict[str, Any] = {"RS256": RSAAlgorithm, "ES256": ECAlgorithm, "EdDSA": OKPAlgorithm}


def new_key(algorithm: str, bits: int = 2048) -> Any:
    match algorithm:
        case "RS256":
            return rsa.generate_private_key(65537, bits)
        case "ES256":
            return ec.generate_private_key(ec.SECP256R1())
        case _:
            return ed25519.Ed25519PrivateKey.generate()


class LittleIssuer:
    def __init__(self) -> None:
        self.private: dict[str, tuple[str, Any]] = {}
        """By kid: algorithm and private key."""
        self.listed: dict[str, dict[str, Any]] = {}
        """By kid: what the key set shows."""
        self.asked: list[str] = []
        self.answers: dict[str, tuple[int, bytes]] = {}
        """By path: status and body to give instead."""
        self.hang = False
        self._server: asyncio.Server | None = None
        self._port = 0
        self._release = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        await self.come_back()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release.set()
        await self.go_away()

    async def come_back(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def go_away(self) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None

    # -- keys and tokens -----------------------------------------------------------------------------------------

    def add(self, kid: str, algorithm: str = "RS256", *, bits: int = 2048, **more: Any) -> None:
        private = new_key(algorithm, bits)
        self.private[kid] = (algorithm, private)
        public = json.loads(_SIGNERS[algorithm].to_jwk(private.public_key()))
        self.listed[kid] = public | {"kid": kid, "use": "sig"} | more

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Those of a good token; None takes one out."""
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "u-1",
            "iat": now,
            "exp": now + 300,
            "plait_role": "operator",
            "plait_namespace": "team-a",
        }
        return {name: value for name, value in (claims | changes).items() if value is not None}

    def token(self, kid: str, *, headers: dict[str, Any] | None = None, key: Any = None, **claims: Any) -> str:
        algorithm, private = self.private[kid]
        return jwt.encode(self.claims(**claims), key or private, algorithm, headers={"kid": kid} | (headers or {}))

    def public_pem(self, kid: str) -> bytes:
        return self.private[kid][1].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    # -- HTTP ----------------------------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode()
            self.asked.append(path)
            if self.hang:
                await self._release.wait()
            status, body = self.answers.get(path) or (200, json.dumps(self._document(path)).encode())
            writer.write(b"HTTP/1.1 %d X\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % (status, len(body)))
            writer.write(body)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _document(self, path: str) -> Any:
        if path == "/.well-known/openid-configuration":
            return {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}
        return {"keys": list(self.listed.values())}


def sealed_by_hand(header: dict[str, Any], claims: dict[str, Any], secret: bytes | None) -> str:
    """A token as no honest library would make it: HMAC with any secret, or no signature."""
    body = ".".join(_b64(json.dumps(part).encode()) for part in (header, claims))
    mac = b"" if secret is None else hmac.digest(secret, body.encode(), hashlib.sha256)
    return f"{body}.{_b64(mac)}"


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
