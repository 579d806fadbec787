"""Traces of runs for OpenTelemetry, if ``OTEL_EXPORTER_OTLP_ENDPOINT`` is set.

Each run is a span that contains a span for each call to a model: names, counts and times, but no
prompts and replies.
"""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from planweave import BadInput, __version__

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

    from planweave.apps.server.runs import RunClaim


@cache
def tracer() -> "Tracer | None":
    """The tracer of this process; None if tracing is off."""
    if not os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise BadInput(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, and OpenTelemetry is not installed.",
            fix='Run: pip install "planweave[telemetry]".',
        ) from None
    resource = Resource.create({"service.name": "planweave", "service.version": __version__})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider.get_tracer("planweave")


@contextmanager
def run_span(claim: "RunClaim") -> "Iterator[Span | None]":
    """Open the span of a run."""
    if (found := tracer()) is None:
        yield None
        return
    attributes: dict[str, str | int] = {
        "planweave.method": claim.method,
        "planweave.run": claim.run_id,
        "planweave.thread": claim.thread_id,
        "planweave.attempt": claim.attempt,
    }
    with found.start_as_current_span(f"run {claim.method}", attributes=attributes) as span:
        yield span


def call_span(parent: "Span | None", call: Mapping[str, Any]) -> None:
    """Record the span of a call that has just ended."""
    if parent is None or (found := tracer()) is None:
        return
    from opentelemetry.trace import set_span_in_context

    end = time.time_ns()
    span = found.start_span(
        f"call {call['role']}",
        context=set_span_in_context(parent),
        start_time=end - int(call["seconds"] * 1e9),
        attributes={
            "gen_ai.request.model": call["model"],
            "gen_ai.usage.input_tokens": call["input_tokens"],
            "gen_ai.usage.output_tokens": call["output_tokens"],
            "planweave.role": call["role"],
        },
    )
    span.end(end)
