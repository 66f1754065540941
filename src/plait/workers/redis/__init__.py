"""Workers on Redis: queued tasks travel there by streams, and their results come back by a list.

Redis holds nothing that could be lost: each task is a row of the store with a lease, which this package claims for
whoever reads the stream. What is no longer in Redis is released, and offered again. See decision 0025.
"""
