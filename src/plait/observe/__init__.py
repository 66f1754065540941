"""What an engine tells its operators: logs, metrics, traces.

    Observability       all of it, for our own processes; `plait serve` makes one
    ├── logs            lines of JSON that know their run, node, attempt and request
    ├── TaskLines       what a step logs, kept with its run
    ├── Metrics         counted as it happens, rendered when Prometheus scrapes
    └── Traces          OpenTelemetry, an optional dependency

Everything uses the kernel's `Observer` hook, so the engine depends on none of it.
"""
