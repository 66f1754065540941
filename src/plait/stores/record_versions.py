"""Versioned records: the error of a write that expected an older version."""


class RecordChanged(Exception):
    """A record is not the version that a change expected."""
