"""The `refs` dialect: JSON steps wired by `@ref` strings."""
