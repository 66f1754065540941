"""What an engine tells those who run it: logs, metrics, traces.

    Observability       all of it, for a process of ours; `plait serve` makes one
    ├── logs            lines of JSON that know their run, node, attempt and request
    ├── TaskLines       what a step logs, kept with its run
    ├── Metrics         counted as it happens, written out when Prometheus asks
    └── Traces          OpenTelemetry, an extra

Everything hangs on the kernel's `Observer` hook, so the engine knows none of it.
"""
