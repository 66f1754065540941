"""A real sandbox for a simulation, called without yielding to the event loop.

The engine's own pools answer in real time, but a simulation has only virtual time: everything it waits for must happen
at the moment of the call, or two simulations of one seed would differ.
"""

from __future__ import annotations

import socket

from plait.scripts.processes import Answer, Program
from plait.scripts.processes.process import Process

_PRINTED = ord("P")


class InstantProcess:
    """One process for all engines; scripts leave nothing behind for the next one."""

    def __init__(self, program: Program) -> None:
        self._process = Process(program)
        self._process.pipe.setblocking(True)
        self._answer()  # its greeting

    def ask(self, request: bytes) -> Answer:
        self._process.pipe.sendall(len(request).to_bytes(4, "big") + request)
        return self._answer()

    def _answer(self) -> Answer:
        while True:
            frame = _read(self._process.pipe, int.from_bytes(_read(self._process.pipe, 4), "big"))
            if frame[0] != _PRINTED:
                return Answer(frame[:1], frame[1:], ())


def _read(pipe: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        part = pipe.recv(count - len(found))
        if not part:
            raise RuntimeError("the sandbox of the simulation is gone")
        found += part
    return found
