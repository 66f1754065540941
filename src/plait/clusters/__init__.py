"""Runs steps on existing clusters: Dask, Ray and Kubernetes.

The engine manages the attempt: its timeout, its heartbeats and its number. The cluster gets one job for it, with a name
derived from the attempt: an engine that takes over a run requests the same job, and finds it running.
"""
