"""Steps on clusters that people already have: Dask, Ray and Kubernetes.

The engine keeps the attempt: its timeout, its heartbeats and its number. The cluster gets one job for it, under a name
that follows from the attempt: an engine that takes over a run asks for the same job, and finds it where it is.
"""
