"""The process of one attempt at an isolated step: finds the step, calls it, reports the outcome, and exits."""

from __future__ import annotations

import ctypes
import importlib.util
import logging
import os
import signal
import socket
import sys
import threading
from typing import Any, NoReturn

from plait.clusters.call import End, Failed, RemoteCall, Said, read_call
from plait.clusters.remote import LogForwarder, perform
from plait.kernel import values
from plait.kernel.failures import describe
from plait.kernel.task import TaskError

_PR_SET_PDEATHSIG = 1


def main(fd: int) -> NoReturn:
    """`fd` is the socket to the engine."""
    _die_with_engine()
    with socket.socket(fileno=fd) as pipe:
        lines = pipe.makefile("rb")
        if not (asked := lines.readline()):
            os._exit(1)  # the engine was gone before it could ask
        call = read_call(asked)
        threading.Thread(target=_watch, args=(lines,), daemon=True).start()
        engine = _Engine(pipe)
        logging.basicConfig(level=logging.INFO, handlers=[LogForwarder(engine.say)])
        engine.say(_performed(call, engine))
    logging.shutdown()
    os._exit(0)  # ends any threads the step has left running


def _die_with_engine() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _watch(lines: Any) -> None:
    """Exits once the engine has closed its end, where the kernel does not do it: nobody needs the result then."""
    lines.read()
    os.killpg(0, signal.SIGKILL)


class _Engine:
    """The connection by which this process reports to the engine; may be used from any thread."""

    def __init__(self, pipe: socket.socket) -> None:
        self._pipe = pipe
        self._one_by_one = threading.Lock()

    def say(self, said: Said) -> None:
        with self._one_by_one:
            self._pipe.sendall(values.plain(said) + b"\n")


def _performed(call: RemoteCall, engine: _Engine) -> End:
    try:
        if call.program:
            _load_program(call.program)
    except BaseException as error:
        return Failed(describe(error), getattr(error, "retryable", True) is not False)
    return perform(call, engine.say)


def _load_program(path: str) -> None:
    """Loads the program's own file under the module name its steps know, without running its `__main__` part."""
    spec = importlib.util.spec_from_file_location("__plait_main__", path)
    if spec is None or spec.loader is None:
        raise TaskError(f"the program {path} can't be loaded in a process of its own", retryable=False)
    module = importlib.util.module_from_spec(spec)
    sys.modules["__main__"] = sys.modules["__plait_main__"] = module
    spec.loader.exec_module(module)
