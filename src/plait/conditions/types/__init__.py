"""The types of conditions, one per file: their fields, and their evaluation."""
