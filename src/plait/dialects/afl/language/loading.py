"""Loads programs: the only part of the language that reads files.

A program is a file, a directory or a list of them. A namespace that it uses and does not declare is looked up in
library directories; files that declare it are added, and what they use in turn.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from plait.kernel.errors import InvalidInput, NotFound

from .limits import MAX_FILE_BYTES, MAX_FILES, TooManyFiles
from .source_file import SourceFile

SUFFIXES = (".afl", ".ffl")

Shelf = Mapping[str, Sequence[SourceFile]]
"""Files by the namespaces that they declare."""

_QUALIFIED = r"([A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*)"
_DECLARED = re.compile(rf"\bnamespace\s+{_QUALIFIED}\s*\{{", re.ASCII)
_USED = re.compile(rf"\buses?\s+{_QUALIFIED}", re.ASCII)


def read_sources(source: str | Path | Sequence[str | Path], libraries: Iterable[str | Path] = ()) -> list[SourceFile]:
    """`source` is a path, several paths, or the text itself (not a path: it has a brace or several lines)."""
    if isinstance(source, str) and ("\n" in source or "{" in source):
        found = [SourceFile("source.afl", source)]
    else:
        paths = [source] if isinstance(source, str | Path) else source
        found = read_paths([Path(each) for each in paths])
    return with_libraries(found, [Path(each) for each in libraries])


def read_paths(paths: Sequence[Path]) -> list[SourceFile]:
    """The files in order; those of a directory sorted, and each file once."""
    found: dict[str, Path] = {}
    for path in paths:
        for each in _files(path):
            found.setdefault(os.path.realpath(each), each)
            if len(found) > MAX_FILES:
                raise TooManyFiles(len(found))
    return [read_file(each) for each in found.values()]


def read_file(path: Path) -> SourceFile:
    """Bytes that are not UTF-8 become characters that the parser refuses, with their place."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _unreadable(path, error) from None
    return SourceFile(str(path), content.decode("utf-8", "surrogateescape"))


def with_libraries(program: Sequence[SourceFile], libraries: Sequence[Path]) -> list[SourceFile]:
    found = list(program)
    declared = {name for file in found for name in _names(_DECLARED, file)}
    missing = [name for file in found for name in _names(_USED, file) if name not in declared]
    if missing and libraries:
        _extend(found, missing, declared, read_shelf(read_paths(libraries)))
    return found


def related_files(document: SourceFile, shelf: Shelf) -> list[SourceFile]:
    """A file with all others that contribute to its namespaces, or that it uses."""
    found = [document]
    wanted = [*_names(_DECLARED, document), *_names(_USED, document)]
    _extend(found, wanted, set(), shelf)
    return found


def read_shelf(files: Iterable[SourceFile]) -> Shelf:
    """Files by the namespaces that they declare."""
    found: dict[str, list[SourceFile]] = {}
    for file in files:
        for name in dict.fromkeys(_names(_DECLARED, file)):
            found.setdefault(name, []).append(file)
    return found


def _extend(found: list[SourceFile], wanted: list[str], declared: set[str], shelf: Shelf) -> None:
    names = {file.name for file in found}
    while wanted:
        name = wanted.pop(0)
        if name in declared:
            continue
        declared.add(name)
        for file in shelf.get(name, ()):
            if file.name not in names:
                names.add(file.name)
                found.append(file)
                wanted.extend(_names(_USED, file))


def _names(pattern: re.Pattern[str], file: SourceFile) -> Iterator[str]:
    for match in pattern.finditer(file.text):
        yield re.sub(r"\s", "", match[1])


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found = list(islice(paths_in(path), MAX_FILES + 1))
    if not found:
        raise NotFound("afl.no_files", f"{path} holds no AFL", why=f"no file in it ends with {' or '.join(SUFFIXES)}")
    yield from found


def paths_in(folder: Path) -> Iterator[Path]:
    """The AFL files in a directory and all below it; links to directories are not followed."""
    for where, folders, files in os.walk(folder, onerror=_refuse, followlinks=False):
        folders.sort()
        yield from (Path(where, name) for name in sorted(files) if name.endswith(SUFFIXES))


def _refuse(error: OSError) -> None:
    raise _unreadable(Path(error.filename), error)


def _unreadable(path: Path, error: OSError) -> InvalidInput | NotFound:
    if isinstance(error, FileNotFoundError):
        return NotFound("afl.no_file", f"there is no file {path}")
    return InvalidInput("afl.unreadable", f"{path} can't be read", why=error.strerror or str(error))
