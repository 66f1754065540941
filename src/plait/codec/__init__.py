"""Encryption at rest: a store around a store. What passes its door is encrypted below it and plain above it."""
