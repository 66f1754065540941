"""The `refs` dialect: JSON steps that are wired by `@ref` strings."""
