"""A small SMTP server of the tests: takes mail, or refuses it as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from email import message_from_bytes
from email.message import Message


class MailServer:
    def __init__(self) -> None:
        self.mails: list[Message] = []
        self.refusals: list[str] = []
        """Answers to the next recipients, such as `451 later`."""
        self.arrived = asyncio.Event()
        self.port = 0

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def say(line: str) -> None:
            writer.write(f"{line}\r\n".encode())

        say("220 mail.test")
        while line := (await reader.readline()).decode().strip():
            match line.partition(" ")[0].upper():
                case "RCPT" if self.refusals:
                    say(self.refusals.pop(0))
                case "DATA":
                    say("354 go on")
                    body = await reader.readuntil(b"\r\n.\r\n")
                    self.mails.append(message_from_bytes(body[:-5]))
                    say("250 taken")
                    self.arrived.set()
                case "QUIT":
                    say("221 bye")
                    break
                case _:
                    say("250 ok")
        writer.close()


@asynccontextmanager
async def mail_server() -> AsyncGenerator[MailServer]:
    found = MailServer()
    server = await asyncio.start_server(found.talk, "127.0.0.1", 0)
    found.port = server.sockets[0].getsockname()[1]
    async with server:
        yield found
