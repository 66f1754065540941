"""A name server at the border: what it answers is up to the test, all that follows is real."""

import socket
from collections.abc import Sequence


class Names:
    """Each name has a list of answers; the last one is given for good."""

    def __init__(self, **names: list[list[str]]) -> None:
        self._names = {name.replace("_", "."): list(answers) for name, answers in names.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self._names.get(host)
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return answers.pop(0) if len(answers) > 1 else answers[0]
