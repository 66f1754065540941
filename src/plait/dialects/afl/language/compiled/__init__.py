"""The compiled form of a program: JSON that says all a machine needs to run it."""
