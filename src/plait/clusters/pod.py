"""`python -m plait.clusters.pod`: the process of a Kubernetes job. It gets its call from the environment and writes its
messages to standard output, in lines that begin with a mark: other lines are the step's own."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Mapping
from typing import Final, NoReturn

from plait.kernel import values

from .call import Said, read_call
from .remote import LogForwarder, perform

MARK: Final = "plait> "
_VARIABLE: Final = "PLAIT_CALL_"
_LONGEST: Final = 100_000
"""Maximum bytes of one variable: Linux accepts 128 KiB."""


def environment_of(call: bytes) -> dict[str, str]:
    """Encodes a call as environment variables."""
    text = call.decode()
    starts = range(0, len(text), _LONGEST // 4)  # a character may have four bytes
    return {f"{_VARIABLE}{number}": text[at : at + _LONGEST // 4] for number, at in enumerate(starts)}


def told_by(environment: Mapping[str, str]) -> bytes:
    parts: list[str] = []
    while (part := environment.get(f"{_VARIABLE}{len(parts)}")) is not None:
        parts.append(part)
    return "".join(parts).encode()


def main() -> NoReturn:
    lock = threading.Lock()

    def say(said: Said) -> None:
        with lock:
            print(MARK + values.plain(said).decode(), flush=True)

    logging.basicConfig(level=logging.INFO, handlers=[LogForwarder(say)])
    say(perform(read_call(told_by(os.environ)), say))
    sys.stdout.flush()
    os._exit(0)  # even if the step has left threads running


if __name__ == "__main__":
    main()
