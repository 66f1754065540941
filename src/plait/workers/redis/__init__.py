"""Workers on Redis: tasks of queues travel there by streams, and their results come back by a list.

Redis holds nothing that could be lost: each task is a row of the store with a lease, which this package claims for
whoever reads the stream. What is not in Redis any more is given back, and offered again. See decision 0025.
"""
