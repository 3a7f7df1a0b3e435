"""POST /responses: what is answered, and what is written with it."""

import gzip
import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest

from metacog.models import AgentState, AuditEvent
from reviews.models import AgentResponse, HeldItem, Signal
from tests.tables import table

pytestmark = pytest.mark.django_db


def test_it_answers_the_verdict_in_the_shape_of_the_contract(kuro: Any) -> None:
    text = "The cause is clearly the cache."
    verdict = kuro.respond(
        text,
        items=[
            {"kind": "CHAT", "text": text, "attributes": {"reply": "true"}},
            {"kind": "action", "text": "looked at it"},
            {"kind": "ask", "text": "Is it?"},
            {"kind": "poem", "text": "…"},
        ],
    )
    assert list(verdict)[:8] == ["id", "policy", "profile", "engine", "hesitation", "quality", "confidence", "stuck"]
    assert verdict["id"].startswith("resp_")
    assert (verdict["policy"], verdict["profile"]) == (1, "seed")
    hesitation = verdict["hesitation"]
    assert (hesitation["score"], hesitation["confident"]) == (50, False)
    assert (hesitation["threshold"], hesitation["hold_at"]) == (30, 50)
    claim, known = hesitation["signals"]
    assert claim["type"] == "absolute-claim"
    assert claim["detail"] == "1 absolute claim(s) without source"
    assert claim["weight"] == 20
    assert claim["spans"][0] == {"start": 13, "end": 20, "text": "clearly"}
    assert known["type"] == "error-pattern"
    assert known["detail"] == "matches past error: cause named before it was measured"
    assert hesitation["suggestion"] == "Hesitation triggered (score=50): absolute-claim, error-pattern"
    assert hesitation["matched_pattern_ids"] == ["ep-cache"]
    chat, action, ask, poem = verdict["items"]
    assert (chat["kind"], chat["disposition"], chat["text"]) == ("chat", "hold", None)
    assert chat["held"].startswith("held_")
    assert chat["review_url"].endswith(f"/queue/{chat['held']}/")
    assert action["disposition"] == "note"
    assert action["text"] == "looked at it\n\nHesitation: absolute-claim, error-pattern (score=50)"
    assert (ask["disposition"], ask["text"], ask["held"]) == ("pass", "Is it?", None)
    assert (poem["disposition"], poem["flags"]) == ("pass", ["unknown-kind"])
    assert verdict["schedule"] == {"next": "2m", "reason": "hesitation review: held CHAT"}
    assert verdict["events"] == []


@pytest.mark.parametrize("seconds", [0, 5])
def test_a_review_that_trials_hasten_leaves_the_verdict_alone(kuro: Any, settings: Any, seconds: float) -> None:
    settings.REVIEW_SECONDS = seconds
    assert kuro.respond()["schedule"]["next"] == "2m"
    held = HeldItem.objects.get()
    assert held.review_due_at - held.held_at == timedelta(seconds=seconds)


@pytest.mark.parametrize("prepared", [True, False])
def test_it_writes_response_signals_held_items_and_audit_events(kuro: Any, settings: Any, prepared: Any) -> None:
    settings.PREPARED = prepared
    verdict = kuro.respond(session="s1", cycle=42)
    response = AgentResponse.objects.get(public_id=verdict["id"])
    assert (response.session, response.cycle, response.hesitation_score) == ("s1", 42, 50)
    assert response.triggered
    assert json.loads(response.verdict) == verdict
    assert hashlib.sha256(response.body.encode()).hexdigest() == response.body_sha256
    assert [(s.type, s.weight, s.pattern and s.pattern.public_id) for s in Signal.objects.order_by("id")] == [
        ("absolute-claim", 20, None),
        ("error-pattern", 30, "ep-cache"),
    ]
    held = HeldItem.objects.get()
    assert (held.kind, held.state, held.hesitation_score) == ("chat", "pending", 50)
    assert held.sha256 == hashlib.sha256(held.text.encode()).hexdigest()
    assert (held.review_due_at - held.held_at).total_seconds() == 120
    assert (held.expires_at - held.held_at).days == 7
    events = AuditEvent.objects.filter(object_id__in=[verdict["id"], held.public_id]).order_by("id")
    assert [(e.action, e.actor_kind, e.actor, e.after) for e in events] == [
        ("response-accepted", "agent", "kuro", "accepted"),
        ("chat-held", "agent", "kuro", "pending"),
    ]
    assert events[1].data["score"] == 50
    assert events[1].data["cycle"] == 42
    assert "cache" not in json.dumps([e.data for e in events]), "the record holds no text"
    assert AgentState.objects.get().responses == 1


@table(("written", "cycle"), [("42.0", 42), ("1e3", 1000), ("9007199254740993", 2**53 + 1)], rolled_back=True)
def test_a_whole_number_is_one_however_it_is_written(kuro: Any, written: Any, cycle: Any) -> None:
    body = f'{{"id": "a", "response": "x", "cycle": {written}, "tests": {{"passed": 40.0, "failed": 2.0e0}}}}'
    assert kuro.post("/responses", body).status_code == 201
    assert AgentResponse.objects.get().cycle == cycle
    assert kuro.post("/responses", body)["Idempotent-Replayed"] == "true"
    assert kuro.post("/responses", body.replace(" ", "")).status_code == 422, "the key stands for these very bytes"


def test_whole_numbers_are_taken_in_every_body(kuro: Any) -> None:
    held, body = kuro.hold(), '{"verdict": "reject", "reason": "x", "version": %s}'
    statuses = [kuro.post(f"/held/{held}/decision", body % number).status_code for number in ("1.5", "1.0")]
    assert statuses == [422, 201]
    asked = kuro.post("/extensions", '{"session": "s", "reason": "The logs of node-17 are missing.", "step": 5.0}')
    assert asked.json()["request"]["step"] == 5
    assert kuro.post("/confidence", '{"retrieval": {"facts": 3.0, "topic_mentions": 7.0}}').status_code == 200


def test_it_parses_the_tags_when_no_items_are_given(kuro: Any) -> None:
    verdict = kuro.respond(
        'Clearly. <kuro:chat reply="true">It is the cache.</kuro:chat> [REMEMBER]cache[/REMEMBER] `<chat>no</chat>`',
        items=None,
    )
    assert [(item["kind"], item["disposition"]) for item in verdict["items"]] == [
        ("chat", "hold"),
        ("remember", "hold"),
    ]
    assert verdict["schedule"]["reason"] == "hesitation review: held CHAT, REMEMBER"
    assert HeldItem.objects.get(kind="chat").text == "It is the cache."
    assert HeldItem.objects.get(kind="chat").attributes == {"reply": "true"}


def test_it_takes_an_empty_list_as_no_items(kuro: Any) -> None:
    assert kuro.respond("[CHAT]clearly the cache[/CHAT]", items=[])["items"] == []


def test_it_takes_an_empty_response(kuro: Any) -> None:
    verdict = kuro.respond("", items=None)
    assert (verdict["hesitation"]["score"], verdict["items"], verdict["schedule"]) == (0, [], None)


def test_it_marks_between_the_threshold_and_the_hold(kuro: Any) -> None:
    verdict = kuro.respond("the cache", items=[{"kind": k, "text": "cache"} for k in ("chat", "remember", "task")])
    assert verdict["hesitation"]["score"] == 30
    chat, remember, task = verdict["items"]
    assert {item["disposition"] for item in verdict["items"]} == {"mark"}
    assert chat["text"].startswith("cache\n\n")
    assert remember["text"] == "⚠️ [hesitation score=30] cache"
    assert task["text"] == "[needs-review] cache"
    assert HeldItem.objects.count() == 0


def test_it_passes_everything_unscored_when_hesitation_is_switched_off(kuro: Any, aurora: Any) -> None:
    aurora.agents.update(hesitation_enabled=False)
    verdict = kuro.respond()
    assert verdict["hesitation"] is None
    assert verdict["items"][0]["disposition"] == "pass"
    assert AgentResponse.objects.get().hesitation_score is None


def test_a_changed_pattern_counts_with_the_next_post(kuro: Any, aurora: Any) -> None:
    from patterns.models import ErrorPattern

    assert kuro.respond()["hesitation"]["score"] == 50
    pattern = ErrorPattern.objects.get(team=aurora)
    pattern.state = "retired"
    pattern.save()
    assert kuro.respond()["hesitation"]["score"] == 20


def test_it_does_not_match_another_teams_patterns(other: Any, aurora: Any) -> None:
    from patterns.models import ErrorPattern

    ErrorPattern.objects.create(team=aurora, keywords=["wholly private"], description="x")
    assert other.respond("wholly private")["hesitation"]["score"] == 0


def test_it_links_a_second_look_to_the_item_it_is_about(kuro: Any) -> None:
    held = kuro.hold()
    kuro.respond("It was not the network either.", replies_to_held=held)
    assert AgentResponse.objects.latest("id").second_look_at.public_id == held


def test_it_refuses_a_second_look_at_an_item_of_somebody_else(kuro: Any, other: Any) -> None:
    answer = kuro.post("/responses", {"response": "x", "replies_to_held": other.hold()})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/replies_to_held"
    assert AgentResponse.objects.filter(agent__name="kuro").count() == 0


def test_it_answers_in_a_fixed_number_of_queries(kuro: Any, django_assert_max_num_queries: Any) -> None:
    kuro.respond()
    with django_assert_max_num_queries(16):
        kuro.respond(session="s", items=[{"kind": "chat", "text": "clearly the cache"}] * 50)


def test_it_keeps_the_callers_request_id_in_the_record(kuro: Any) -> None:
    answer = kuro.post("/responses", {"response": "x"}, **{"x-request-id": "trace-7"})
    assert answer["X-Request-Id"] == "trace-7"
    assert AuditEvent.objects.get(action="response-accepted").request_id == "trace-7"


@table(
    ("headers", "status"),
    [
        ({"authorization": ""}, 401),
        ({"authorization": "Bearer nonsense"}, 401),
        ({"authorization": "Bearer "}, 401),
        ({"authorization": "Basic a2V5"}, 401),
        ({"authorization": "Bearer ключ"}, 401),
    ],
    rolled_back=True,
)
def test_it_wants_a_key(kuro: Any, headers: Any, status: int) -> None:
    answer = kuro.post("/responses", {"response": "x"}, **headers)
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert "WWW-Authenticate" in answer
    assert AgentResponse.objects.count() == 0


def test_it_refuses_a_disabled_agent(kuro: Any, aurora: Any) -> None:
    aurora.agents.update(enabled=False)
    assert kuro.post("/responses", {"response": "x"}).status_code == 403
    assert kuro.get("/held").status_code == 403


def test_a_revoked_key_ends_with_the_next_call_and_its_successor_goes_on(kuro: Any, aurora: Any) -> None:
    from metacog.accounts import keys

    agent = aurora.agents.get()
    newer, _ = keys.issue(agent, None)
    assert kuro.get("/held").status_code == 200
    assert keys.revoke(agent, None) == 1
    assert kuro.get("/held").status_code == 401
    kuro.key = newer
    assert kuro.get("/held").status_code == 200


def test_neither_key_nor_secret_is_stored_as_it_is(kuro: Any) -> None:
    from metacog.models import AgentKey

    row = str(AgentKey.objects.values().get())
    assert kuro.key not in row
    assert kuro.secret not in row


@table("size", [1_048_576, 1_048_577], rolled_back=True)
def test_it_takes_bodies_up_to_one_mebibyte(kuro: Any, size: int) -> None:
    body = json.dumps({"response": "", "items": []})
    body = body.replace('""', '"' + "a" * (size - len(body)) + '"', 1)
    assert len(body) == size
    answer = kuro.post("/responses", body)
    assert answer.status_code == (201 if size == 1_048_576 else 413)
    assert AgentResponse.objects.count() == (size == 1_048_576)


@table("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""], rolled_back=True)
def test_it_wants_json(kuro: Any, kind: str) -> None:
    answer = kuro.post("/responses", {"response": "x"}, **{"content-type": kind})
    assert answer.status_code == 415
    assert AgentResponse.objects.count() == 0


def test_it_wants_a_body_that_is_not_packed(kuro: Any) -> None:
    packed = gzip.compress(b'{"response": "x"}')
    for encoding, status in (("gzip", 415), ("zstd, gzip", 415), ("identity", 400)):
        answer = kuro.post("/responses", packed, **{"content-encoding": encoding})
        assert answer.status_code == status
    assert AgentResponse.objects.count() == 0


def test_it_takes_json_that_names_its_charset(kuro: Any) -> None:
    answer = kuro.post("/responses", {"response": "x"}, **{"content-type": "application/json; charset=utf-8"})
    assert answer.status_code == 201


def test_it_lets_two_hundred_through_at_once_and_then_says_when_to_come_back(
    kuro: Any, aurora: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from metacog.models import Policy

    Policy.objects.update(rate_burst=3, rate_per_second=2)
    clock = [1_000_000.0]
    monkeypatch.setattr("reviews.intake.post.time.time", lambda: clock[0])
    codes = [kuro.post("/responses", {"response": "x"}).status_code for _ in range(4)]
    assert codes == [201, 201, 201, 429]
    answer = kuro.post("/responses", {"response": "x"})
    assert answer["Retry-After"] == "1"
    assert AgentResponse.objects.count() == 3
    clock[0] += 0.5
    assert kuro.post("/responses", {"response": "x"}).status_code == 201
    assert kuro.post("/responses", {"response": "x"}).status_code == 429


def test_the_defaults_are_twenty_a_second_and_two_hundred_at_once() -> None:
    from metacog.heuristics import Policy
    from metacog.http.problems import Problem
    from reviews.intake.rate import take_turn

    tat = 0.0
    for _ in range(200):
        tat = take_turn(tat, 1000.0, Policy())
    with pytest.raises(Problem):
        take_turn(tat, 1000.0, Policy())
    assert take_turn(tat, 1000.05, Policy())


@table(
    ("ahead", "posts", "waits"),
    [
        (0, 200, 1),  # the burst, and then one at a time
        (9.95, 1, 1),  # it is spent
        (10.9, 0, 1),  # of another machine, whose clock goes before
        (14, 1, 1),  # the clock was set back by a few seconds
        (60, 1, 1),
        (3600, 1, 1),
        (8 * 86_400, 1, 1),
    ],
)
def test_a_clock_that_was_set_back_gives_the_next_turn(ahead: float, posts: int, waits: int) -> None:
    from metacog.heuristics import Policy
    from metacog.http.problems import Problem
    from reviews.intake.rate import take_turn

    tat = 1000.0 + ahead
    for _ in range(posts):
        tat = take_turn(tat, 1000.0, Policy())
    with pytest.raises(Problem) as refused:
        take_turn(tat, 1000.0, Policy())
    assert int(refused.value.headers["Retry-After"]) == waits
    assert take_turn(tat, 1000.0 + waits, Policy()) <= 1000.0 + waits + 10


@pytest.mark.parametrize("seconds", [60, 3600, 8 * 86_400])
def test_an_agent_goes_on_posting_whichever_way_the_clock_is_set(
    kuro: Any, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    clock = [1_770_000_000.0]
    monkeypatch.setattr("reviews.intake.post.time.time", lambda: clock[0])
    for step in (0, -seconds, seconds, seconds, -seconds):
        clock[0] += step
        for _ in range(3):
            answer = kuro.post("/responses", {"response": "x"})
            assert answer.status_code == 201, (step, answer.content)
            clock[0] += 0.1  # twice as long as a turn takes


def test_an_error_in_the_heuristics_refuses_and_writes_nothing(kuro: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metacog.heuristics.Scorer.assess", lambda *a, **k: 1 / 0)
    answer = kuro.post("/responses", {"response": "x"})
    assert answer.status_code == 500
    assert answer["Content-Type"] == "application/problem+json"
    assert AgentResponse.objects.count() == 0


def test_a_database_that_is_away_is_503_with_a_time_to_come_back(kuro: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import OperationalError

    def away(*args: Any, **kwargs: Any) -> None:
        raise OperationalError("database or disk is full")

    monkeypatch.setattr("reviews.intake.ingest.write", away)
    answer = kuro.post("/responses", {"response": "x"})
    assert answer.status_code == 503
    assert int(answer["Retry-After"]) > 0
    assert AgentResponse.objects.count() == 0
