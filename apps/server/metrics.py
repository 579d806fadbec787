"""Metrics for Prometheus at ``/metrics``; with several workers, the sum of their processes."""

import os
from collections.abc import Mapping
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
    multiprocess,
)

_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)

_registry = CollectorRegistry()
_finished = Counter(
    "planweave_runs_finished", "Runs that ended.", ["method", "status"], registry=_registry
)
_seconds = Histogram(
    "planweave_run_seconds",
    "Time at work on a run.",
    ["method"],
    buckets=_SECONDS,
    registry=_registry,
)
_calls = Counter("planweave_model_calls", "Calls of models.", ["method"], registry=_registry)
_tokens = Counter(
    "planweave_tokens", "Tokens of prompts and replies.", ["method", "kind"], registry=_registry
)
_dollars = Counter("planweave_dollars", "Price of the calls.", ["method"], registry=_registry)
_requests = Counter("planweave_http_requests", "Requests answered.", ["code"], registry=_registry)


def count_run(method: str, status: str, seconds: float) -> None:
    """Count a run that ended."""
    _finished.labels(method, status).inc()
    _seconds.labels(method).observe(seconds)


def count_call(method: str, call: Mapping[str, Any]) -> None:
    """Count a call to a model."""
    _calls.labels(method).inc()
    _tokens.labels(method, "prompt").inc(call["input_tokens"])
    _tokens.labels(method, "reply").inc(call["output_tokens"])
    _dollars.labels(method).inc(call["dollars"] or 0.0)


def count_request(code: int) -> None:
    """Count a request."""
    _requests.labels(str(code)).inc()


def exposition(waiting: Mapping[str, int]) -> bytes:
    """All metrics as text."""
    registry = _registry
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    now = CollectorRegistry()
    gauge = Gauge("planweave_runs", "Runs that are not over.", ["status"], registry=now)
    for status, count in waiting.items():
        gauge.labels(status).set(count)
    return generate_latest(registry) + generate_latest(now)
