"""Doc comments: `/** … */` immediately before what they describe."""

from __future__ import annotations

import re

from .tokens import Token
from .tree import Doc

_STAR = re.compile(r"^[ \t]*\*?[ \t]?")
_TAG = re.compile(r"@(param|return|returns)[ \t]+([A-Za-z_][A-Za-z0-9_]*)[ \t]*(.*)", re.DOTALL)


def read_doc(comment: Token) -> Doc:
    lines = [_STAR.sub("", line).rstrip() for line in comment.value[3:-2].split("\n")]
    description: list[str] = []
    tags: list[list[str]] = []
    for line in lines:
        if line.lstrip().startswith(("@param", "@return")):
            tags.append([line.lstrip()])
        else:
            (tags[-1] if tags else description).append(line)
    found = [match for lines in tags if (match := _TAG.match("\n".join(lines).strip()))]
    return Doc(
        comment.start,
        comment.end,
        "\n".join(description).strip(),
        tuple((each[2], each[3].strip()) for each in found if each[1] == "param"),
        tuple((each[2], each[3].strip()) for each in found if each[1] != "param"),
    )
