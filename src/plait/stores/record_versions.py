"""Records that are changed from one version to the next: what a write meets that knew an older one."""


class RecordChanged(Exception):
    """A record is not the one that a change expected."""
