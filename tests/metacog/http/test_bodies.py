"""How bodies come in (metacog/asgi.py): slowly, in pieces, not whole, too large; with pages' forms among them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.template import Template

from metacog import asgi
from reviews.models import AgentResponse, Decision, HeldItem, LogImport, LogImportPart

pytestmark = pytest.mark.django_db(transaction=True)  # requests are answered in threads of their own

STALLS = object()  # in place of a part: nothing more comes, and the connection stays
CUT_OFF = object()  # likewise: the connection ends
SAID = b'{"response": "in pieces"}'


class Sent:
    """One request as a web server hands it over, and what was answered."""

    def __init__(self, method: str, path: str, parts: Sequence[Any], **headers: str) -> None:
        given = {"host": "localhost", "content-type": "application/json"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        self.scope = {
            "type": "http", "http_version": "1.1", "method": method, "scheme": "http", "raw_path": path.encode(),
            "query_string": b"", "server": ("127.0.0.1", "8000"), "client": ("127.0.0.1", "50000"),
            "headers": [(name.encode(), value.encode()) for name, value in given.items() if value],
        }  # fmt: skip
        self.parts, self.taken = list(parts), 0
        self.status, self.body = 0, b""
        self.headers: dict[bytes, bytes] = {}

    async def receive(self) -> dict[str, Any]:
        part = self.parts[self.taken]
        self.taken += 1
        if part is STALLS:
            await asyncio.Event().wait()
        if part is CUT_OFF:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": part, "more_body": self.taken < len(self.parts)}

    async def send(self, message: Any) -> None:
        self.status = message.get("status", self.status)
        self.headers |= dict(message.get("headers", ()))
        self.body += message.get("body", b"")

    async def played(self) -> Sent:
        await asgi.application(self.scope, self.receive, self.send)
        return self


def play(*sent: Sent) -> list[int]:
    async def together() -> None:
        await asyncio.gather(*(one.played() for one in sent))

    with ThreadPoolExecutor(1) as thread:  # the browser's tests leave a loop running in this one
        thread.submit(asyncio.run, together()).result()
    return [one.status for one in sent]


@pytest.fixture
def post(kuro: Any) -> Callable[..., Sent]:
    def prepared(*parts: Any, path: str = "/api/v1/responses", method: str = "POST", **headers: str) -> Sent:
        return Sent(method, path, parts, **{"authorization": f"Bearer {kuro.key}", "content_length": "1000"} | headers)

    return prepared


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no body for seconds; those that stall here have all been sent."""
    monkeypatch.setattr(asgi, "AT_ONCE_SECONDS", 0.02)
    monkeypatch.setattr(asgi, "BODY_SECONDS", 0.3)
    monkeypatch.setattr(asgi, "LINGER_SECONDS", 0.02)


CHUNKED = {"content_length": "", "transfer_encoding": "chunked"}
FORM = {"path": "/sign-in/", "authorization": "", "content_type": "application/x-www-form-urlencoded"}
BY_THE_HEADERS: list[tuple[str, int, dict[str, str]]] = [
    ("no key", 401, {"authorization": ""}),
    ("no key, in chunks", 401, {"authorization": "", **CHUNKED}),
    ("an unknown key", 401, {"authorization": "Bearer mck_unknown"}),
    ("no signature", 401, {"path": "/api/v1/agents/agt_x/responses"}),
    ("no such call", 404, {"path": "/api/v1/nothing"}),
    ("another method", 405, {"method": "DELETE"}),
    ("a body that is too large", 413, {"content_length": "1048577"}),
    ("a form that is too large", 413, FORM | {"content_length": "9000000"}),
    ("a form without its cookie", 403, FORM),
]


@pytest.mark.parametrize(
    ("status", "headers"), [case[1:] for case in BY_THE_HEADERS], ids=[case[0] for case in BY_THE_HEADERS]
)
def test_what_the_headers_decide_is_answered_before_the_body_has_come(
    post: Any, status: int, headers: dict[str, str]
) -> None:
    assert play(post(b"{", STALLS, **headers)) == [status]


@pytest.mark.parametrize(
    ("parts", "more", "status", "said"),
    [
        ([], {"content_length": "9000000"}, 413, "Form too large"),
        ([b"a=&" * 10_001], {"cookie": f"csrftoken={'c' * 32}"}, 400, "Request not readable"),
    ],
)
def test_people_are_shown_a_page_where_their_form_is_not_taken(
    post: Any, parts: list[Any], more: dict[str, str], status: int, said: str
) -> None:
    refused = post(*parts, **FORM | more)
    assert play(refused) == [status]
    page = refused.body.decode()
    assert said in page.partition("<h1>")[2].partition("</h1>")[0]
    assert 'href="/static/metacog/console' in page


NO_HOST = {"host": "elsewhere.example"}
COOKIE = {"cookie": f"csrftoken={'c' * 32}"}


@pytest.mark.parametrize(
    ("parts", "more", "status"),
    [
        ([STALLS], {}, 403),
        ([b"csrf", STALLS], {}, 403),
        ([b"csrf", STALLS], CHUNKED, 403),
        ([b"csrf", STALLS], NO_HOST, 400),
        ([b"csrf", STALLS], {"path": "/no-such-page/"}, 404),
        ([b"csrf", STALLS], {"path": "/queue/held_x/decide"}, 403),
        ([STALLS], COOKIE, 408),
        ([b"csrf", STALLS], COOKIE, 408),
        ([b"\xff\x00", STALLS], COOKIE | CHUNKED, 408),
        ([b"csrf", CUT_OFF], COOKIE, 400),
        ([b"x" * 2_000, STALLS], COOKIE | {"content_length": "5000"}, 503),
    ],
)
def test_a_form_that_does_not_come_is_refused_without_a_page(
    post: Any, monkeypatch: Any, parts: list[Any], more: dict[str, str], status: int
) -> None:
    monkeypatch.setattr(asgi, "BUFFERED_BYTES", 1_000)
    monkeypatch.setattr(Template, "_render", lambda *args: pytest.fail("a page is rendered"))
    stalled = post(*parts, **FORM | more)
    assert play(stalled) == [status]
    assert stalled.headers[b"content-type"].startswith(b"text/plain")
    assert len(stalled.body) < 200


def test_a_client_that_waits_to_be_told_to_go_on_is_not_told_so_without_a_key(post: Any) -> None:
    refused = post(STALLS, authorization="", expect="100-continue")
    assert (play(refused), refused.taken) == ([401], 0)


def test_a_body_that_does_not_come_is_awaited_for_a_while_and_nothing_is_done(post: Any, kuro: Any) -> None:
    thread = kuro.post("/threads", {"title": "Caches"}).json()["slug"]
    cookie = {"cookie": f"csrftoken={'c' * 32}"}
    stalled = [
        post(b"{", STALLS),
        post(b"{", STALLS, **CHUNKED),
        post(b"{", STALLS, path=f"/api/v1/threads/{thread}/pause"),
        post(b"csrf", STALLS, **FORM, **cookie),
    ]
    assert play(*stalled) == [408] * 4
    assert json.loads(stalled[0].body)["title"] == "Request Timeout"
    assert not AgentResponse.objects.exists()
    assert kuro.get(f"/threads/{thread}").json()["state"] == "active"


def test_more_stalled_bodies_than_there_are_threads_hold_nobody_up(post: Any) -> None:
    stalled = [post(b"{", STALLS) for _ in range(3 * asgi.THREADS)]
    assert play(*stalled, post(SAID))[-1] == 201


@pytest.mark.parametrize(
    "framing",
    [
        {"content_length": str(len(SAID)), "transfer_encoding": "chunked"},
        {"content_length": "0", "transfer_encoding": "chunked"},
        {"content_length": "", "transfer_encoding": "gzip, chunked"},
        {"content_length": "", "transfer_encoding": "chunked, chunked"},
        {"content_length": "", "transfer_encoding": "identity"},
        {"content_length": "9", "transfer_encoding": "identity"},
    ],
)
@pytest.mark.parametrize("more", [{}, FORM, {"method": "DELETE"}, {"method": "GET", "path": "/healthz"}])
def test_a_body_framed_in_two_ways_is_refused(post: Any, framing: dict[str, str], more: dict[str, str]) -> None:
    """A proxy in front might read the other one, and take a part of the body for the next request."""
    assert play(post(SAID, **framing | more)) == [400]
    assert not AgentResponse.objects.exists()


@pytest.mark.parametrize("framing", [{"content_length": str(len(SAID))}, CHUNKED])
def test_a_body_that_comes_in_pieces_is_taken(post: Any, framing: dict[str, str]) -> None:
    assert play(post(SAID[:7], SAID[7:8], SAID[8:], **framing)) == [201]
    assert AgentResponse.objects.get().body == SAID.decode()


@pytest.mark.parametrize("framing", [{"content_length": "2000000"}, CHUNKED])
def test_of_a_body_that_is_too_large_what_is_on_its_way_is_read(post: Any, framing: dict[str, str]) -> None:
    """A client that is still sending when the connection closes sees no answer."""
    large = post(*[b" " * 500_000] * 4, **framing)
    assert (play(large), large.taken) == ([413], 4)


def test_a_body_that_was_cut_off_is_not_taken(post: Any) -> None:
    """The part that came is JSON, too; taken, it would keep the whole one out for ever."""
    whole = b'{"id": "once-1", "response": "said"}\n'
    length = {"content_length": str(len(whole))}
    cut_off = post(whole[:-1], CUT_OFF, **length)
    assert play(cut_off) == [400]
    assert json.loads(cut_off.body)["detail"].startswith("The body ended before its Content-Length.")
    assert not AgentResponse.objects.exists()
    assert play(post(whole, **length)) == [201]


def test_half_a_form_decides_nothing(post: Any, kuro: Any, alice: Any, as_person: Any) -> None:
    item = HeldItem.objects.get(public_id=kuro.hold())
    client = as_person(alice)
    client.get("/queue/")
    csrf = client.cookies["csrftoken"].value
    form = f"csrfmiddlewaretoken={csrf}&verdict=reject&version={item.version}&sha256={item.sha256}&reason=Not+measured+"
    sent = FORM | {"path": f"/queue/{item.public_id}/decide", "content_length": str(len(form) + 2)}
    sent["cookie"] = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    assert play(post(form.encode(), CUT_OFF, **sent)) == [400]
    assert not Decision.objects.exists()
    assert play(post(form.encode(), **sent | {"content_length": str(len(form))})) == [302]
    assert Decision.objects.exists()


def test_where_too_much_comes_at_once_whoever_sends_most_is_refused(post: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(asgi, "BUFFERED_BYTES", 1_000)
    small, large = post(b"{", STALLS), post(b" " * 900, b" " * 200, STALLS)
    assert play(small, large) == [408, 503]
    assert asgi.Body.buffered == 0
    assert play(post(SAID)) == [201]


def test_an_old_client_has_to_say_how_long_its_body_is(post: Any) -> None:
    old = post(content_length="")
    old.scope["http_version"] = "1"
    assert play(old) == [411]


@pytest.fixture
def upload(post: Any, carla: Any, as_person: Any) -> Callable[..., Sent]:
    """Return a function that prepares the upload of a log, which is larger than any other body may be."""
    client = as_person(carla)
    client.get("/log-imports/")
    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    fields = {
        "csrfmiddlewaretoken": client.cookies["csrftoken"].value,
        "under": f"team:{carla.teams[0].pk}",
        "format": "openai",
    }
    head = "".join(
        f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
    )
    head += '--b\r\nContent-Disposition: form-data; name="upload"; filename="log.jsonl"\r\n\r\n'
    line = b'{"messages": [{"role": "assistant", "content": "' + b"x" * 4_000 + b'"}]}\n'

    def prepared(megabytes: int, *more: Any, **headers: str) -> Sent:
        parts = [head.encode(), *[line * 250] * megabytes, *(more or [b"\r\n--b--\r\n"])]
        length = sum(len(part) for part in parts if isinstance(part, bytes))
        given = {"content_type": "multipart/form-data; boundary=b", "content_length": str(length), "cookie": cookies}
        return post(*parts, path="/log-imports/", authorization="", **given | headers)

    return prepared


def test_a_log_is_uploaded_through_a_file_and_no_memory(upload: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(asgi, "BUFFERED_BYTES", 1_000_000)
    large = upload(15)
    assert play(large) == [302]
    log = LogImport.objects.get()
    assert log.state == "waiting"
    assert log.size == sum(len(part.data) for part in LogImportPart.objects.filter(log=log)) > 15_000_000
    assert (asgi.Body.buffered, asgi.Upload.open) == (0, set())
    monkeypatch.setattr(asgi, "UPLOAD_SECONDS", 0.3)
    too_large = upload(0, content_length="60000000")
    assert play(upload(1, CUT_OFF), upload(1, STALLS), too_large) == [400, 408, 413]
    page = too_large.body.decode()
    assert "The file is larger than 50 MB. Split it." in page.partition('type="file"')[0]
    assert play(upload(0, STALLS, cookie="", content_length="50000")) == [403]  # nobody is signed in
    monkeypatch.setattr(asgi, "UPLOADS", 1)
    assert sorted(play(upload(1, STALLS), upload(1, STALLS))) == [408, 503]
    assert (LogImport.objects.count(), asgi.Upload.open) == (1, set())
