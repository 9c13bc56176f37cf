"""Enables tracing if the environment variables of OpenTelemetry configure it.

Tracing is enabled by an exporter (`OTEL_TRACES_EXPORTER`) or an endpoint (`OTEL_EXPORTER_OTLP_ENDPOINT`,
`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`), unless `OTEL_SDK_DISABLED=true`. OpenTelemetry is imported only if
tracing is enabled. `app.observability.spans` owns the spans.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tailrace.app.observability.spans import Tracing

EXPORTER: Final = "OTEL_TRACES_EXPORTER"
DISABLED: Final = "OTEL_SDK_DISABLED"
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


class CannotTrace(Exception):
    """Tracing is configured but cannot start. The text says what is missing."""


def tracing_from(environment: Mapping[str, str] = os.environ) -> Tracing | None:
    """Return the `Tracing` that `environment` configures; None if tracing is off. Raises `CannotTrace`."""
    exporter = exporter_named_in(environment)
    if exporter is None:
        return None
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.sdk") is None:
        raise CannotTrace(
            "tracing is configured, but OpenTelemetry is not installed: run pip install 'tailrace[tracing]'"
        )
    from tailrace.app.observability.spans import UnknownExporter, tracing_to  # noqa: PLC0415 - only where it is installed

    try:
        return tracing_to(exporter, environment)
    except UnknownExporter as unknown:
        raise CannotTrace(f"{EXPORTER}: {unknown}") from None


def exporter_named_in(environment: Mapping[str, str]) -> str | None:
    """Return the name of the exporter; `otlp` if only an endpoint is set; None if tracing is off."""
    if environment.get(DISABLED, "").lower() == "true":
        return None
    named = environment.get(EXPORTER) or ("otlp" if any(map(environment.get, _ENDPOINTS)) else "none")
    return None if named == "none" else named
