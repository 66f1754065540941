"""Definitions of the dialect: how they are written, what is wrong with them, and what they come to."""
