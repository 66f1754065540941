"""`@ref` strings: parsed, and replaced by the values they name. Pure functions of a definition and a run's values."""
