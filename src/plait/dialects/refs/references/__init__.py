"""`@ref` strings: read, and replaced by the values they name. Pure functions of a definition and of a run's values."""
