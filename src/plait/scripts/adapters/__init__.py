"""The languages, each behind the same three calls: check, call, holds."""
