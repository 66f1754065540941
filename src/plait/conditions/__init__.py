"""Checks that people write down: bounded, without I/O, the same in every dialect."""
