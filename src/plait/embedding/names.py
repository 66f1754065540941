"""The run's registry of names: locations are stored as indices into it, which are shorter than the names."""

from __future__ import annotations

from .keys import Part


class Names:
    def __init__(self) -> None:
        self.all: list[str] = []
        self._indices: dict[str, int] = {}

    def add(self, name: str) -> int:
        """The index of a name; a new name is appended."""
        if (found := self._indices.get(name)) is None:
            found = self._indices[name] = len(self.all)
            self.all.append(name)
        return found

    def parts(self, path: str) -> list[Part]:
        """A printed location as parts of a key. Names are stored as printed."""
        found: list[Part] = []
        name = 0
        for piece in path.split("/"):
            if piece.startswith("~") and piece[1:].isdigit():
                found.append((name, int(piece[1:])))
            else:
                name = self.add(piece)
                found.append(name)
        return found

    def path(self, parts: list[Part]) -> str:
        return "/".join(f"~{part[1]}" if isinstance(part, tuple) else self.all[int(part)] for part in parts)
