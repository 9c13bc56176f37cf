"""Whether spans are made: where OpenTelemetry is configured, by its own environment variables.

Configured is what names an exporter (`OTEL_TRACES_EXPORTER`) or an endpoint for one
(`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`), unless `OTEL_SDK_DISABLED=true`.
Nothing of the package is imported before that is known. What a span is, `app.observability.spans` says.
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
    """Traces are configured, and cannot be made; the text says what is missing."""


def tracing_from(environment: Mapping[str, str] = os.environ) -> Tracing | None:
    """What makes spans, or None where none are wanted. Raises `CannotTrace`."""
    exporter = exporter_named_in(environment)
    if exporter is None:
        return None
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.sdk") is None:
        raise CannotTrace(
            "traces are configured, but OpenTelemetry is not installed: run pip install 'tailrace[tracing]'"
        )
    from tailrace.app.observability.spans import UnknownExporter, tracing_to  # noqa: PLC0415 - only where it is installed

    try:
        return tracing_to(exporter, environment)
    except UnknownExporter as unknown:
        raise CannotTrace(f"{EXPORTER}: {unknown}") from None


def exporter_named_in(environment: Mapping[str, str]) -> str | None:
    """The exporter's name, None where no traces are wanted; `otlp` where only its endpoint is given."""
    if environment.get(DISABLED, "").lower() == "true":
        return None
    named = environment.get(EXPORTER) or ("otlp" if any(map(environment.get, _ENDPOINTS)) else "none")
    return None if named == "none" else named
