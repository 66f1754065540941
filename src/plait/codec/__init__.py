"""Encryption at rest: a store around a store. Values are plain above it and encrypted below it."""
