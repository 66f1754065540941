"""The version of Plait; a test compares it with the package's."""

__version__ = "0.1.0"
