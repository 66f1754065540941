"""Ended runs outside the database: one document a run, in a folder."""
