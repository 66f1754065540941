"""OpenTelemetry traces, if configured: loads `spans`, which needs the extra `otel`.

The standard variables configure them: OTEL_EXPORTER_OTLP_ENDPOINT (OTLP over HTTP), OTEL_SERVICE_NAME,
OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, OTEL_TRACES_EXPORTER=otlp|console|none, OTEL_SDK_DISABLED.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from plait.extras import extra
from plait.kernel.errors import InvalidInput

if TYPE_CHECKING:
    from .spans import Traces

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_EXPORTERS = ("otlp", "console")


def wanted(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the environment configures traces: it names an exporter or an endpoint."""
    if environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporter = environ.get("OTEL_TRACES_EXPORTER", "")
    if exporter:
        return exporter.lower() != "none"
    return any(environ.get(name) for name in _ENDPOINTS)


def from_environment(environ: Mapping[str, str] = os.environ) -> Traces:
    """Makes traces from the OTEL_* variables. For our own processes: sets the tracer provider of the process if it has
    none, so that instrumented clients in steps report to the same place."""
    exporter = environ.get("OTEL_TRACES_EXPORTER", "").lower() or "otlp"
    if exporter not in _EXPORTERS:
        raise InvalidInput(
            "observe.bad_exporter", f"OTEL_TRACES_EXPORTER={exporter}", fix="use otlp (over HTTP), console or none"
        )
    with extra("otel", "a trace", instead="unset the OTEL_* variables"):
        from .spans import Traces, provider_of_process
    return Traces(provider_of_process(exporter))
