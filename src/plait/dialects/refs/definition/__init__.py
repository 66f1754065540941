"""Definitions of the dialect: how they are written, their flaws, and their compiled plans."""
