"""The compiled form of a program: JSON with all that a machine needs to run it."""
