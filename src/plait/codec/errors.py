"""Errors about keys. A changed ciphertext is `store.damaged`, like any other damaged row."""

from __future__ import annotations

from plait.kernel.errors import Conflict, Damaged, Erased, InvalidInput, PlaitError

KEY, KEY_FILE = "PLAIT_ENCRYPTION_KEY", "PLAIT_ENCRYPTION_KEY_FILE"


class KeyUnusable(PlaitError):
    """Values can't be read or written with the configured keys."""


def no_master_key() -> KeyUnusable:
    return KeyUnusable(
        "codec.key_missing",
        "this database is encrypted",
        why="no encryption key is configured here",
        fix=f"set {KEY} or {KEY_FILE} to the key that it was encrypted with",
    )


def wrong_master_key(named: str, configured: str) -> KeyUnusable:
    return KeyUnusable(
        "codec.wrong_key",
        "this database is encrypted with another key",
        why=f"its keys are wrapped by master key {named}, and {configured} is configured",
        fix=f"set {KEY} or {KEY_FILE} to that key; after a change of keys, list the old one after the new one",
    )


def no_data_key(key_id: str) -> KeyUnusable:
    return KeyUnusable(
        "codec.key_missing",
        f"the data key {key_id} is not in this database",
        why="the rows that were encrypted with it came from another database, or its record was deleted",
        fix="restore the record from a backup",
    )


def erased(at: int) -> Erased:
    return Erased.since(at, "these values were erased")


def damaged(what: str) -> Damaged:
    return Damaged(f"{what} can't be decrypted", "it was changed, or moved from another place")


def bad_master_key(where: str, why: str) -> InvalidInput:
    return InvalidInput(
        "codec.bad_key",
        f"{where} holds no usable encryption key",
        why=why,
        fix="use 32 random bytes in base64, for example from `plait keys master`",
    )


def encryption_is_off() -> Conflict:
    return Conflict(
        "codec.off",
        "encryption is off",
        why="without it there are no keys to rotate or to destroy",
        fix=f"set {KEY} or {KEY_FILE}; `plait keys master` makes a key",
    )
