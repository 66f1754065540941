"""New files: complete or absent, even after a power cut, and never overwriting another."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from plait.kernel.errors import InvalidInput, Unavailable

_PRIVATE = 0o600
_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EACCES)


@contextmanager
def new_file(target: Path) -> Generator[Path]:
    """Yields an empty draft beside the target, readable for its owner only, since it holds what a database does. The
    draft becomes `target` when the block ends."""
    if os.path.lexists(target):  # a device or a broken link counts as existing, too
        raise _exists(target)
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        _create(draft, target)
        yield draft
        sync(draft)
        _publish(draft, target)
        sync(target.parent)
    except OSError as error:
        if error.errno in _OF_THE_DISK:
            raise _unwritable(target, error) from error
        raise
    finally:
        draft.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Syncs a file, or the entries of a folder."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _create(draft: Path, target: Path) -> None:
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, _PRIVATE))
    except OSError as error:
        raise _unwritable(target, error) from error


def _publish(draft: Path, target: Path) -> None:
    """A file created meanwhile stays: an engine may have created it and be using it."""
    try:
        os.link(draft, target)
    except FileExistsError:
        raise _exists(target) from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(target):
            raise _exists(target) from None
        draft.replace(target)


def _exists(target: Path) -> InvalidInput:
    return InvalidInput("backup.exists", f"{target} is there already", fix="name another file, or move it away")


def _unwritable(target: Path, error: OSError) -> Unavailable:
    return Unavailable(
        "backup.unwritable",
        f"{target} can't be written",
        why=error.strerror or str(error),
        fix="check that its folder is there, that you may write to it, and that its disk has room",
    )
