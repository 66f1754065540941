"""Tidy source text: four spaces, comments kept, the same program, and nothing left to do the second time."""
