"""The benchmark: the same small works on Plait, on its peers and on the bare database, in one run.

A figure alone says more about the machine than about the engine, so everything is measured side by side: subjects take
turns within a round, every figure is the median of three rounds, and the answer is a ratio. Run it with
``python -m bench``; ``README.md`` beside this file says what each work does and how to read the result.

This package is imported by the peers' own interpreters too, so it and ``bench.subjects`` import nothing from outside
the standard library here.
"""
