"""Traces: what came with a post is kept and linked, and spans are written of scoring, holding and deciding."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from metacog.runtime import tracing
from metacog.settings import BASE_DIR
from reviews.models import AgentResponse, HeldItem
from tests.conftest import HELD, Caller
from tests.tables import table

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"
TRANSFER = {"kind": "tool_call", "name": "transfer", "arguments": {"iban": "DE89"}, "call_id": "call_7"}


@pytest.fixture
def spans(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Have spans written into memory; gives what has those that are over."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    memory, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    settings.TRACE_EXPORTERS = ["memory"]
    monkeypatch.setattr(tracing, "_tracer", provider.get_tracer("metacog"))
    yield memory
    provider.shutdown()


@table(
    "given, kept",
    [
        (PARENT, PARENT),
        (f"00-{TRACE}-{SPAN}-00", f"00-{TRACE}-{SPAN}-00"),
        (f"cc-{TRACE}-{SPAN}-01", PARENT),
        (f"cc-{TRACE}-{SPAN}-01-later-versions-may-go-on", PARENT),
        (f"00-{TRACE}-{SPAN}-01-and-this-one-not", ""),
        (f"ff-{TRACE}-{SPAN}-01", ""),
        (f"00-{'0' * 32}-{SPAN}-01", ""),
        (f"00-{TRACE}-{'0' * 16}-01", ""),
        (PARENT.upper(), ""),
        (f"{PARENT},{PARENT}", ""),
        (f"{PARENT}\n", ""),
        ("r-12", ""),
        ({"of": "another kind"}, ""),
        (None, ""),
    ],
)
def test_a_traceparent_is_read_as_its_standard_says(given: object, kept: str) -> None:
    assert tracing.traceparent(given) == kept


OTHER = PARENT.replace("4bf9", "aaaa")


@table(
    "header, metadata, kept",
    [
        (PARENT, None, PARENT),
        ("", {"trace": PARENT}, PARENT),
        (PARENT, {"trace": OTHER}, PARENT),
        ("nonsense", None, ""),
        ("", {"trace": ["no", "string"]}, ""),
        ("", None, ""),
    ],
    rolled_back=True,
)
def test_a_response_keeps_the_trace_it_was_posted_in(
    header: str, metadata: dict[str, Any] | None, kept: str, kuro: Caller
) -> None:
    sent = {"traceparent": header} if header else {}
    assert kuro.post("/responses", {"response": "Done.", "metadata": metadata}, **sent).status_code == 201
    assert AgentResponse.objects.get().traceparent == kept


HREF = '<a href="https://traces.example.org/{}" rel="noreferrer">Trace</a>'


@table(
    "header, metadata, item, link",
    [
        (PARENT, {}, {}, TRACE),
        (PARENT, {"trace": OTHER}, {}, OTHER[3:35]),
        (PARENT, {"trace": OTHER}, {"trace": "run/7 &c"}, "run%2F7%20%26c"),
        (PARENT, {"trace": {"of": "another kind"}}, {}, TRACE),
        ("", {"run": "r-12"}, {}, None),
    ],
    rolled_back=True,
)
def test_an_item_leads_to_its_trace(
    header: str, metadata: Any, item: Any, link: str | None, kuro: Caller, alice: Any, settings: Any
) -> None:
    settings.TRACE_URL = "https://traces.example.org/{trace_id}"
    body = {"response": HELD, "metadata": metadata, "items": [{"kind": "chat", "text": HELD, "metadata": item}]}
    kuro.post("/responses", body, **({"traceparent": header} if header else {}))
    client = Client()
    client.force_login(alice)
    page = client.get(reverse("item", args=[HeldItem.objects.get().public_id])).content.decode()
    assert (HREF.format(link) in page) if link else ("Trace" not in page)


def test_an_item_names_its_trace_where_no_address_of_traces_is_set(kuro: Caller, alice: Any, client: Client) -> None:
    kuro.post("/responses", {"response": HELD, "items": [{"kind": "chat", "text": HELD}]}, traceparent=PARENT)
    client.force_login(alice)
    page = client.get(reverse("item", args=[HeldItem.objects.get().public_id])).content.decode()
    assert f"Trace <code>{TRACE}</code>" in page


ADDRESS = "https://traces.example.org/t?id={trace_id}"


@table(
    "given, is_one",
    [
        (ADDRESS, True),
        ("", True),
        ("https://traces.example.org/t", False),
        ("https://{trace_id}.example.org/", False),
        ("https://traces.example.org{trace_id}", False),
        ("javascript://traces.example.org/{trace_id}", False),
        ("https://user:password@traces.example.org/{trace_id}", False),
        ("https://traces.exa mple.org/{trace_id}", False),
    ],
)
def test_an_address_of_traces_is_checked_at_start(given: str, is_one: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METACOG_TRACE_URL", given)
    read = runpy.run_path(str(BASE_DIR / "metacog" / "settings.py"))
    said = "METACOG_TRACE_URL is not an address that can be used."
    assert (read["TRACE_URL"], [what for what, _ in read["CONFIG_PROBLEMS"]]) == (
        (given, []) if is_one else ("", [said])
    )


def test_scoring_and_holding_are_spans_of_the_agents_trace(kuro: Caller, spans: Any) -> None:
    chat = {"kind": "chat", "text": HELD}
    body = {"response": HELD, "session": "s1", "items": [chat, TRANSFER, {"kind": "ask", "text": "Why?"}]}
    verdict = kuro.post("/responses", body, traceparent=PARENT).json()
    scored, *held, received = spans.get_finished_spans()
    assert [span.name for span in (scored, *held, received)] == [
        "metacog.score", "metacog.hold", "metacog.hold", "metacog.receive",
    ]  # fmt: skip
    assert {f"{span.context.trace_id:032x}" for span in (scored, *held, received)} == {TRACE}
    assert f"{received.parent.span_id:016x}" == SPAN
    assert {span.parent.span_id for span in (scored, *held)} == {received.context.span_id}
    assert received.start_time <= scored.start_time <= scored.end_time == held[0].start_time <= received.end_time
    about = {
        "gen_ai.agent.id": kuro.id,
        "gen_ai.agent.name": "kuro",
        "gen_ai.conversation.id": "s1",
        "metacog.response.id": verdict["id"],
    }
    for span in (scored, *held, received):
        assert about.items() <= dict(span.attributes).items()
    assert scored.attributes["metacog.items.hold"] == 2
    result = dict(next(e.attributes for e in scored.events if e.attributes["gen_ai.evaluation.name"] == "hesitation"))
    assert {event.name for event in scored.events} == {"gen_ai.evaluation.result"}
    assert (result["gen_ai.evaluation.score.value"], result["gen_ai.evaluation.score.label"]) == (50, "fail")
    assert [span.attributes["metacog.held.id"] for span in held] == [verdict["items"][at]["held"] for at in (0, 1)]
    assert held[1].attributes["gen_ai.tool.name"] == "transfer"
    assert held[1].attributes["gen_ai.tool.call.id"] == "call_7"
    told = "".join(span.to_json() for span in (scored, *held, received))
    assert "clearly" not in told
    assert "DE89" not in told


def test_a_post_without_a_trace_begins_one_that_is_kept(kuro: Caller, spans: Any) -> None:
    kuro.respond()
    kept = AgentResponse.objects.get().traceparent
    *_, received = spans.get_finished_spans()
    assert kept == f"00-{received.context.trace_id:032x}-{received.context.span_id:016x}-01"


def test_a_trace_that_is_not_sampled_is_kept_and_written_nothing_of(kuro: Caller, spans: Any) -> None:
    kuro.post("/responses", {"response": "Done."}, traceparent=f"00-{TRACE}-{SPAN}-00")
    assert AgentResponse.objects.get().traceparent == f"00-{TRACE}-{SPAN}-00"
    assert spans.get_finished_spans() == ()


def test_a_post_that_is_refused_is_no_span_and_a_replayed_one_says_so(kuro: Caller, spans: Any) -> None:
    body = {"response": "Done.", "id": "one"}
    for posted in (body, body, body | {"response": "Other bytes."}):
        kuro.post("/responses", posted)
    *_, first, replayed = spans.get_finished_spans()
    assert [span.name for span in (first, replayed)] == ["metacog.receive", "metacog.receive"]
    assert "metacog.replayed" not in first.attributes
    assert replayed.attributes["metacog.replayed"] is True


def test_a_decision_is_a_span_that_links_to_the_trace_that_posted_it(kuro: Caller, spans: Any) -> None:
    body = {"response": "I pay.", "items": [TRANSFER]}
    held = kuro.post("/responses", body, traceparent=PARENT).json()["items"][0]["held"]
    spans.clear()
    decided = kuro.post(f"/held/{held}/decision", {"verdict": "withdraw", "reason": "Not DE89."}).json()
    kuro.post(f"/held/{held}/decision", {"verdict": "withdraw", "reason": "Not DE89."})
    (span,) = spans.get_finished_spans()
    (link,) = span.links
    assert (f"{link.context.trace_id:032x}", f"{link.context.span_id:016x}") == (TRACE, SPAN)
    assert span.name == "metacog.decide"
    assert {
        "gen_ai.agent.id": kuro.id,
        "gen_ai.tool.name": "transfer",
        "gen_ai.tool.call.id": "call_7",
        "metacog.held.id": held,
        "metacog.decision.id": decided["id"],
        "metacog.decision.verdict": "withdraw",
        "metacog.decision.by": "agent",
    }.items() <= dict(span.attributes).items()
    assert "DE89" not in span.to_json()


def test_what_expires_is_a_span_too(kuro: Caller, spans: Any) -> None:
    from reviews.held.decisions import settle

    kuro.post("/responses", {"response": "I pay.", "items": [TRANSFER]}, traceparent=PARENT)
    spans.clear()
    HeldItem.objects.update(expires_at=HeldItem.objects.get().held_at)
    settle()
    (span,) = spans.get_finished_spans()
    assert (span.attributes["metacog.decision.verdict"], span.attributes["metacog.decision.by"]) == ("expire", "system")
    assert f"{span.links[0].context.trace_id:032x}" == TRACE


def test_what_is_not_configured_is_not_imported(settings: Any) -> None:
    code = (
        "import sys, django; django.setup();"
        "import metacog.urls, reviews.tasks, reviews.chats.cards, reviews.held.decisions;"
        "print([m for m in sys.modules if m.startswith(('opentelemetry', 'sentry_sdk', 'slack_sdk'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=BASE_DIR, capture_output=True, text=True,
        env={"DJANGO_SETTINGS_MODULE": "metacog.settings", "METACOG_DATA_DIR": str(settings.DATA_DIR)},
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("[]\n", "")


@table(
    "environ, asked",
    [
        ({}, []),
        ({"OTEL_SERVICE_NAME": "x"}, []),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, ["otlp_proto_http"]),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, ["otlp_proto_http"]),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, ["otlp_proto_grpc"]),
        ({"OTEL_TRACES_EXPORTER": "console, otlp"}, ["console", "otlp_proto_http"]),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_TRACES_EXPORTER": "none"}, []),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_SDK_DISABLED": "TRUE"}, []),
    ],
)
def test_where_spans_go_is_what_the_standard_variables_say(environ: dict[str, str], asked: list[str]) -> None:
    assert tracing.exporters(environ) == asked


def test_what_is_not_installed_is_a_doubt_and_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    doubts: list[tuple[str, str]] = []
    assert tracing.installed(["console", "carrier-pigeon"], doubts) == []
    assert "carrier-pigeon, which is not installed" in doubts[0][0]
    monkeypatch.setattr(tracing, "find_spec", lambda name: None)
    assert tracing.installed(["console"], doubts) == []
    assert "the extra otel" in doubts[1][1]


def test_spans_reach_a_collector_by_the_standard_variables_alone(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    import http.server
    import threading

    came: list[tuple[str, str, bytes]] = []

    class Collector(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            came.append((self.path, self.headers["x-key"], body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *line: Any) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name, value in {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
            "OTEL_EXPORTER_OTLP_HEADERS": "x-key=k1",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "OTEL_SERVICE_NAME": "second-thoughts",
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(tracing, "_tracer", None)
        settings.TRACE_EXPORTERS = tracing.exporters(os.environ)
        tracing.begin("metacog.receive", PARENT).end()
        tracer: Any = tracing.tracer()
        tracer.span_processor.force_flush()
        tracer.span_processor.shutdown()
        server.shutdown()
    ((path, key, body),) = came
    assert (path, key) == ("/v1/traces", "k1")
    assert b"metacog.receive" in body
    assert b"second-thoughts" in body
    assert bytes.fromhex(TRACE) in body


def test_a_verdict_is_the_same_with_and_without_traces(kuro: Caller, spans: Any, settings: Any) -> None:
    told = [kuro.respond("Clearly fine.", items=[])]
    settings.TRACE_EXPORTERS = []
    told.append(kuro.respond("Clearly fine.", items=[]))
    parts = [json.dumps({name: each[name] for name in ("hesitation", "items")}) for each in told]
    assert parts[0] == parts[1]
