"""The subjects: one file each, every one a script that does one work in a process of its own.

What a work consists of is written once, in ``works.py``, against the small ``Engine`` protocol of ``engine.py``; a
subject only says how its engine starts a run. The raw limits have no engine, and do their own works in
``limit_works.py``.
"""
