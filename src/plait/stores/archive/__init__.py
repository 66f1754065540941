"""Ended runs outside the database: one document per run, in a folder."""
