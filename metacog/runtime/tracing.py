"""Traces for OpenTelemetry (the extra `otel`): what a caller's trace is, and spans sent where OTEL_* variables say.

Nothing of OpenTelemetry is imported before the first span is written, and none is while those variables name no place.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Mapping
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from metacog import __version__

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

Attributes = dict[str, str | int | float | bool]

EXPORTERS = "opentelemetry_traces_exporter"  # the group of entry points by which packages offer them
OTLP = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}
FLUSH_SECONDS = 2.0
_HOW = "Install opentelemetry-sdk and opentelemetry-exporter-otlp-proto-http (the extra otel), or unset the variables."
_TRACEPARENT = re.compile(r"([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(-.*)?", re.DOTALL)

_tracer: Tracer | None = None
_making = threading.Lock()


def exporters(environ: Mapping[str, str]) -> list[str]:
    """Return the exporters that the standard variables ask for, by the names of their entry points."""
    endpoint, names = "", environ.get("OTEL_TRACES_EXPORTER", "").strip()
    for name in ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"):
        endpoint = endpoint or environ.get(name, "").strip()
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true" or not (endpoint or names):
        return []
    protocol = environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or environ.get("OTEL_EXPORTER_OTLP_PROTOCOL")
    otlp = OTLP.get(protocol or "http/protobuf", protocol or "")
    asked = [name.strip() for name in (names or "otlp").split(",")]
    return [otlp if name == "otlp" else name for name in asked if name not in ("", "none")]


def installed(asked: list[str], doubts: list[tuple[str, str]]) -> list[str]:
    """Return the exporters that are asked for, if all are installed; else none, and what is missing in `doubts`."""
    if not asked:
        return []
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.sdk") is None:
        doubts.append(("OTEL_* variables ask for traces, but OpenTelemetry is not installed: none are sent.", _HOW))
        return []
    for name in asked:
        if not entry_points(group=EXPORTERS, name=name):
            doubts.append((f"OTEL_* variables ask for the exporter {name}, which is not installed: no traces are sent.",
                           "The extra otel has otlp over http/protobuf, and console."))  # fmt: skip
            return []
    return asked


def traceparent(given: object) -> str:
    """Return a W3C traceparent in the form of its version 00; "" for what is none, which is no error there."""
    found = _TRACEPARENT.fullmatch(given) if isinstance(given, str) else None
    if found is None or found[1] == "ff" or (found[1] == "00" and found[3]):
        return ""
    return f"00-{found[2]}"


def trace_id(parent: str) -> str:
    return parent[3:35]


def tracer() -> Tracer:
    """Return what makes spans; made on first use, in each process by itself."""
    global _tracer
    with _making:
        if _tracer is None:
            _tracer = _make_tracer()
    return _tracer


def _make_tracer() -> Tracer:
    from multiprocessing import parent_process, util

    from django.conf import settings
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace import get_tracer_provider

    provider = get_tracer_provider()
    if not isinstance(provider, TracerProvider):  # nobody has set one up, as `opentelemetry-instrument` does
        own = {"service.name": "metacog", "service.version": __version__}
        provider = TracerProvider(resource=Resource.create({**own, **OTELResourceDetector().detect().attributes}))
        for name in settings.TRACE_EXPORTERS:
            (exporter,) = entry_points(group=EXPORTERS, name=name)
            provider.add_span_processor(BatchSpanProcessor(exporter.load()()))
        # A web worker is a child of `multiprocessing`, which runs these as it ends, and nothing of `atexit`.
        if parent_process() is not None:
            util.Finalize(None, _flush, (provider,), exitpriority=0)
    return provider.get_tracer("metacog", __version__)


def _flush(provider: TracerProvider) -> None:
    """Send what was not sent yet, unless that takes long: nobody waits for a collector that is away."""
    flushing = threading.Thread(target=provider.force_flush, daemon=True)
    flushing.start()
    flushing.join(FLUSH_SECONDS)


def now() -> int:
    """Return the time as spans have it, in nanoseconds."""
    return time.time_ns()


def begin(name: str, parent: str = "", *, began: int | None = None, links: Iterable[str] = ()) -> Span:
    """Begin a span: within the one that is open here if there is one, else within `parent`, a traceparent."""
    from opentelemetry import trace

    within: Context | None = None
    if not trace.get_current_span().get_span_context().is_valid and parent:
        within = trace.set_span_in_context(trace.NonRecordingSpan(_context(parent)))
    linked = [trace.Link(_context(each)) for each in links if each]
    return tracer().start_span(name, within, trace.SpanKind.SERVER, links=linked, start_time=began)


def begin_part(of: Span, name: str, began: int) -> Span:
    """Begin a span that is a part of another."""
    from opentelemetry import trace

    return tracer().start_span(name, trace.set_span_in_context(of), start_time=began)


def traceparent_of(span: Span) -> str:
    """Return where a span is; "" where it is not recorded, so that nothing could be found there."""
    context = span.get_span_context()
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-01" if span.is_recording() else ""


def _context(parent: str) -> Any:
    from opentelemetry.trace import SpanContext, TraceFlags

    _, trace, span, flags = parent.split("-")
    return SpanContext(int(trace, 16), int(span, 16), is_remote=True, trace_flags=TraceFlags(int(flags, 16)))
