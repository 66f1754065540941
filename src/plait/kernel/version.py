"""Of Plait; a test compares it with the package's."""

VERSION = "0.1.0"
