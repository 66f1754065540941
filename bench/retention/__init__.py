"""A database that keeps one day of history: does it stay as large as it is?"""
