"""How long one call of an Ale script takes."""
