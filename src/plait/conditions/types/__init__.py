"""The types of conditions, one a file: what each takes, and how it is evaluated."""
