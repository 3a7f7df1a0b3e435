"""A secret that an agent posts is on no way out to people, wherever it stood; the agent itself has it whole."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone, translation

from metacog.accounts import tokens
from metacog.heuristics.tool_calls.secret_shapes import use_own
from metacog.heuristics.tool_calls.secrets import MASK, mask
from metacog.models import Agent, AuditEvent, Channel, Notice, Policy, Team, User
from metacog.notices import notices
from metacog.runtime.logs import Line
from patterns.models import ErrorPattern, ThoughtThread
from reviews.held import decisions, talk
from reviews.learning import sweep
from reviews.metrics import daily
from reviews.models import AgentResponse, Decision, Delivery, HeldItem, Sample
from reviews.models.deliveries import TEAM_EVENTS
from reviews.outbox import event_texts, notification_texts, webhooks
from reviews.records.events import tell_proposed
from tests.conftest import Caller

MARK = "MARKED7"  # in each of the secrets
GITLAB, OWN = f"glpat-{MARK}aB3dE5gH7jK9mN1", f"ACME-{MARK}"
TEXT = f"The cause is clearly the cache, says {GITLAB} with password={MARK}x9 and {OWN}."
ARGUMENTS = {
    "password": f"{MARK} in plain",
    "command": f"curl -H 'Authorization: Bearer {MARK}aB3dE5gH7' -d '{{\"api_key\": \"{MARK}\"}}' x\nexport T={GITLAB}",
    "args": ["mysql", "--password", f"{MARK}", "db"],
    "config": {"credentials": {"user": MARK, "pin": 1234}, "json": json.dumps({"token": MARK, "n": [1]})},
    "url": f"postgres://me:{MARK}@db/x",
    f"key {GITLAB}": 1,
}
CALL = {
    "kind": "tool_call", "name": "deploy", "arguments": ARGUMENTS, "description": f"Deploy with {GITLAB}",
    "schema": {"type": "object", "properties": {"password": {"type": "string", "default": MARK, "maxLength": 30}}},
    "metadata": {"token": MARK, "run": "r-1"},
}  # fmt: skip
AROUND = {
    "user_message": f"No, {GITLAB} is wrong.", "errors": [f"denied: {GITLAB}"], "command": f"login --token {MARK}aa1",
    "command_output": f"token={MARK}aa1", "command_failed": True, "problem": "bug", "approach": f"with {GITLAB}",
    "action": f"use {GITLAB}", "topics": ["cache", GITLAB], "session": "s1", "metadata": {"secret": MARK},
}  # fmt: skip
EVERY_EVENT = [*TEAM_EVENTS]


@pytest.fixture
def posted(kuro: Caller, olga: User, alice: User, settings: Any) -> Iterator[Caller]:
    """Let there be one of everything that an agent's secret may come to stand in."""
    settings.SEARXNG_URL = ""
    use_own([r"ACME-\w+"])
    Team.objects.update(mail_texts=True, mail_links=True, names_people=True)
    Policy.objects.update(hold_words_with_calls=False)  # words are decided by themselves here
    agent = Agent.objects.get(public_id=kuro.id)
    agent.callback_url = "http://kuro.example/"
    agent.save(update_fields=["callback_url"])
    notices.set_channel(agent.team, olga, url="https://chat.example/x", minutes=1, language="en", texts=True)
    webhooks.add(agent.team, olga, url="https://hook.example/x", events=EVERY_EVENT)
    items: list[dict[str, Any]] = [{"kind": kind, "text": f"{TEXT} {kind}"} for kind in ("chat", "task", "remember")]
    for cycle in range(2):
        kuro.respond(
            TEXT,
            items=[*items, CALL | {"call_id": f"c{cycle}", "arguments": ARGUMENTS | {"n": cycle}}],
            cycle=cycle,
            **AROUND,
        )
    kuro.respond(f"<kuro:chat>{TEXT}</kuro:chat>", items=None, **AROUND)
    kuro.respond(f"I said it. {TEXT}", items=[], **AROUND)
    kuro.post("/extensions", {"problem": "bug", "reason": f"{GITLAB} needs time", "evidence": [GITLAB]})
    kuro.post("/memory", {"text": f"The key is {GITLAB}.", "topic": "keys", "source": GITLAB})
    kuro.post("/threads", {"title": "Keys", "note": f"begun with {GITLAB}"})
    kuro.respond(TEXT, items=[CALL])
    held = list(HeldItem.objects.filter(kind="chat").order_by("pk"))
    edited, _pending, approved = HeldItem.objects.filter(kind="tool_call").order_by("pk")
    talk.comment(held[0], alice, f"@olga is {GITLAB} yours?")
    decisions.decide(held[0], alice, "reject", reason=f"Nobody measured the cache with {GITLAB}.")
    decisions.decide(held[1], alice, "edit", edit=f"Maybe {GITLAB}.", accept_risk=True)
    decisions.decide(approved, alice, "approve")
    decisions.decide(edited, alice, "edit", edit=decisions.Arguments(ARGUMENTS | {"n": 2}), accept_risk=True)
    Decision.objects.update(release_at=timezone.now())
    decisions.settle(agent)
    kuro.post(f"/held/{approved.public_id}/outcome", {"status": "failed", "detail": GITLAB, "result": {"token": MARK}})
    response = AgentResponse.objects.earliest("pk")
    Sample.objects.create(response=response, agent=agent, day=response.received_at.date())
    sweep.learn()
    daily.count_days(timezone.now())
    yield kuro
    use_own([])


def told(answer: Any) -> str:
    content: bytes = b"".join(answer) if answer.streaming else answer.content
    return content.decode()


def leaks(text: str) -> list[str]:
    """Return what stands around each secret in a text."""
    return [text[max(0, found.start() - 90) : found.start() + 40] for found in re.finditer(MARK, text)]


def of(person: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


def read(client: Client, addresses: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Give each address, those it leads to as well, with what it says; each once."""
    left = dict.fromkeys(addresses)
    opened = set()
    while left:
        path, _ = left.popitem()
        opened.add(path)
        answer = client.get(path)
        assert answer.status_code < 500, path
        if (there := answer.headers.get("Location", "")).startswith("/") and there not in opened:
            left[there] = None
        yield path, told(answer)


LONG = {  # secrets that go on behind the end of each excerpt
    "address": f"postgres://app:{MARK}{'x' * 200}@db/x",
    "GitLab": f"glpat-{MARK}{'x' * 200}",
    "agent's key": f"mck_{MARK}{'x' * 200}",
    "header": f"Authorization: Bearer {MARK}1{'x' * 200}",
    "JSON": json.dumps({"password": MARK, "more": "x" * 200}),
}


@pytest.mark.parametrize("tag", ["chat", ""])
def test_no_excerpt_is_cut_before_it_is_masked(kuro: Caller, alice: User, tag: str) -> None:
    for name, secret in LONG.items():
        text = (
            secret if name == "JSON" else f"It is definitely always the cache, without any doubt, says {secret} of it."
        )
        items = [{"kind": "chat", "text": text}] if not tag else None
        kuro.respond(f"<kuro:{tag}>{text}</kuro:{tag}>" if tag else text, items=items, user_message=secret)
    found = [*HeldItem.objects.all()]
    assert len(found) >= len(LONG) - 1
    lists = ("/queue/", "/queue/changes", "/responses/", "/responses/?show=held", "/responses/?show=triggered")
    paths = [*lists, "/queue/together/?" + "&".join(f"held={held.public_id}" for held in found)]
    paths += [f"/queue/{held.public_id}/" for held in found]
    paths += [f"/responses/{response.public_id}/" for response in AgentResponse.objects.all()]
    assert [f"{path}: {each!r}" for path, page in read(of(alice), paths) for each in leaks(page)] == []


def test_no_word_out_of_one_is_told_as_what_was_recognized(kuro: Caller, alice: User) -> None:
    kuro.post("/threads", {"title": f"Rotate {GITLAB}", "note": "begun"})
    kuro.respond(f"Rotate the key: today we rotate {GITLAB} again.", items=None)
    client, thread = of(alice), ThoughtThread.objects.get()
    response = AgentResponse.objects.get()
    assert response.wire_verdict()["threads"]
    page = client.get(f"/threads/{thread.public_id}/")
    file = client.get(f"/threads/{thread.public_id}/markdown")
    title = told(page).partition("</title>")[0]
    assert MARK.lower() not in f"{title} {file.headers.get('Content-Disposition')}".lower()
    assert leaks(told(client.get(f"/responses/{response.public_id}/"))) == []


def test_a_search_of_memory_tells_no_word_out_of_one_as_what_matched(kuro: Caller, carla: User) -> None:
    kuro.post("/memory", {"text": f"The key of orders is {GITLAB}.", "source": "the handbook"})
    page = told(of(carla).get(f"/memory/?q=key of orders {GITLAB.lower()}"))
    assert "orders" in page
    assert leaks(page) == []


def test_no_span_that_begins_or_ends_within_one_tells_a_half_of_it(kuro: Caller, alice: User, olga: User) -> None:
    webhooks.add(Team.objects.get(), olga, url="https://hook.example/x", events=EVERY_EVENT)
    halves = [f"trust glpat-{MARK}", "ab3de5gh7jk9mn1 for all"]
    ErrorPattern.objects.create(team=Team.objects.get(), public_id="ep-halves", keywords=halves, description="halves")
    text = f"We trust glpat-{MARK}-ab3de5gh7jk9mn1 for all. The cause is clearly the disk."
    verdict = kuro.respond(text, items=[{"kind": "chat", "text": text}, {"kind": "task", "text": f"{text} Do it."}])
    told_spans = [span["text"] for signal in verdict["hesitation"]["signals"] for span in signal["spans"]]
    assert any(MARK in each for each in told_spans), "the agent has its own whole"
    bodies = [row.body for row in Delivery.objects.filter(type="item.held")]
    program = program_of(alice)
    paths = ["/review/queue", *(f"/review/held/{row.public_id}" for row in HeldItem.objects.all())]
    assert len(bodies) == 2
    for said in (*bodies, *(told(program.get(path)) for path in paths)):
        assert "trust" in said
        assert leaks(said) == []
        assert "ab3de5" not in said
    (held,) = json.loads(bodies[0])["data"]["hesitation"]["signals"][-1:]
    assert all(span["text"] == mask(text).text[span["start"] : span["end"]] for span in held["spans"])


def test_none_is_found_by_how_it_begins(posted: Caller, olga: User) -> None:
    client = of(olga)
    for query in (MARK, GITLAB, "glpat", "MARKED", f"ACME-{MARK}"):
        for path in (f"/search/?q={query}", f"/search/export/?q={query}&format=jsonl", f"/palette?q={query}"):
            assert "/queue/held_" not in (page := told(client.get(path))), path
            assert "/responses/resp_" not in page, path


def program_of(person: User) -> Caller:
    _, token = tokens.issue(person, name="script", scopes=["read", "decide"], days=7)
    return Caller("", token, "")


def test_no_call_of_a_persons_program_gives_one(posted: Caller, victor: User, alice: User) -> None:
    answers = {}
    for person in (victor, alice):
        program = program_of(person)
        for query in ("", "?state=decided", "?kind=tool_call", "?order=age", "?metadata.run=r-1"):
            answers[f"{person} queue{query}"] = program.get(f"/review/queue{query}")
        for held in HeldItem.objects.all():
            answers[f"{person} {held.kind} {held.state}"] = program.get(f"/review/held/{held.public_id}")
    decided = HeldItem.objects.filter(kind="tool_call").exclude(state="pending")[0].public_id
    pending = HeldItem.objects.filter(kind="chat", state="pending")[0].public_id
    answers |= {
        "conflict": program.post(f"/review/held/{decided}/decision", {"verdict": "reject", "reason": "No."}),
        "undo": program.post(f"/review/held/{decided}/undo", {}),
        "comment": program.post(f"/review/held/{pending}/comments", {"text": f"{GITLAB}?"}),
        "assign": program.post(f"/review/held/{pending}/assign", {"assignee": "alice"}),
        "risky": program.post(f"/review/held/{pending}/decision", {"verdict": "edit", "text": f"{TEXT} Again."}),
    }
    assert [answers[name].status_code for name in ("conflict", "comment", "risky")] == [409, 201, 422]
    assert [f"{name}: {each!r}" for name, answer in answers.items() for each in leaks(told(answer))] == []


def test_one_item_is_revealed_to_reviewers_and_the_audit_log_keeps_it(
    posted: Caller, victor: User, alice: User
) -> None:
    held = HeldItem.objects.filter(kind="tool_call").latest("pk").public_id
    program = program_of(alice)
    assert program_of(victor).get(f"/review/held/{held}?reveal=1").status_code == 403
    assert program.get("/review/queue?reveal=1").status_code == 422
    assert program.get(f"/review/held/{held}?reveal=yes").status_code == 422
    assert not AuditEvent.objects.filter(action__endswith="-revealed").exists()
    assert program.get(f"/review/held/{held}?reveal=1").json()["arguments"] == ARGUMENTS
    event = AuditEvent.objects.get(action="tool_call-revealed")
    assert (event.object_id, event.actor, event.data["via"]) == (held, "alice", "api")
    assert leaks(json.dumps(event.data)) == []


def test_an_edit_by_api_keeps_what_it_was_shown_masked_and_releases_no_mask(kuro: Caller, alice: User) -> None:
    hosts = [{"name": "x", "token": f"{MARK}1"}, {"name": "y", "token": MARK}]
    arguments = {"to": "a", "password": MARK, "hosts": hosts}
    call = {"kind": "tool_call", "name": "deploy", "arguments": arguments}
    held, program = kuro.respond(items=[call])["items"][0]["held"], program_of(alice)
    shown = program.get(f"/review/held/{held}").json()["arguments"]
    first, second = shown["hosts"]
    for wrong in ({"password": f"x{MASK}"}, {"note": MASK}, {"hosts": [first | {"name": "z"}]}):
        answer = program.post(f"/review/held/{held}/decision", {"verdict": "edit", "arguments": shown | wrong})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/arguments"), wrong
    edited = shown | {"to": "b", "hosts": [second]}
    answer = program.post(f"/review/held/{held}/decision", {"verdict": "edit", "arguments": edited})
    assert answer.status_code == 201
    assert answer.json()["arguments"] == edited
    assert Decision.objects.get().arguments == arguments | {"to": "b", "hosts": hosts[1:]}


def test_none_leaves_with_a_webhook_of_the_team_and_the_agents_own_has_it(posted: Caller) -> None:
    told_in_words = {"keywords": [GITLAB], "description": f"trusts {GITLAB}"}
    tell_proposed(None, ErrorPattern.objects.create(team=Team.objects.get(), public_id="ep-secret", **told_in_words))
    teams = Delivery.objects.exclude(webhook=None)
    assert {"item.held", "item.decided", "extension.requested", "pattern.proposed"} <= {row.type for row in teams}
    assert [f"{row.type}: {each!r}" for row in teams for each in leaks(row.body)] == []
    own = Delivery.objects.filter(webhook=None, type="item.decided")
    assert any(json.loads(row.body)["data"]["arguments"] == ARGUMENTS for row in own)


def test_none_leaves_with_a_notice(posted: Caller, olga: User, alice: User) -> None:
    items, now, found = HeldItem.objects.all(), timezone.now(), []
    for language in ("en", "zh-hant"):
        with translation.override(language):
            for person in (alice, olga):
                letter = notification_texts._letter(person, items, items, 1, now)
                found += leaks(letter.subject + letter.text + str(letter))
    channel = Channel.objects.get()
    found += leaks(notification_texts.message_of(channel, items, items, now))
    for notice in Notice.objects.filter(kind="mention"):
        found += leaks(event_texts.message_of(channel, notice))
    assert found == []


def test_none_is_in_a_file_or_what_a_command_prints(posted: Caller, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    call = {"id": "c", "function": {"name": "Bash", "arguments": json.dumps(ARGUMENTS | {"x": TEXT})}}
    said = {"role": "assistant", "content": f"It is absolutely certain: {TEXT}", "tool_calls": [call]}
    log.write_text(json.dumps({"messages": [said]}) + "\n")
    commands: dict[str, tuple[Any, ...]] = {
        "decisions, jsonl": ("export", "decisions"), "decisions, csv": ("export", "decisions", "--format", "csv"),
        "audit": ("audit", "export"), "import-log": ("import_log", log),
        "import-log, json": ("import_log", log, "--json"),
        "rescore": ("rescore",),
    }  # fmt: skip
    found = []
    for name, words in commands.items():
        out = io.StringIO()
        call_command(*map(str, words), stdout=out)
        found += [f"{name}: {each!r}" for each in leaks(out.getvalue())]
    assert found == []


def test_none_is_in_a_line_of_the_log(posted: Caller, caplog: pytest.LogCaptureFixture) -> None:
    records = [*caplog.records, logging.LogRecord("metacog", logging.ERROR, "", 0, "failed with %s", (TEXT,), None)]
    lines = [Line().format(record) for record in records]
    assert MASK in lines[-1]
    assert [each for line in lines for each in leaks(line)] == []


def test_the_agent_has_its_own_whole(posted: Caller) -> None:
    held = HeldItem.objects.filter(kind="tool_call").latest("pk")
    assert posted.get(f"/held/{held.public_id}").json()["arguments"] == ARGUMENTS
    decided = [each["arguments"] for each in posted.get("/decisions").json()["items"]]
    assert ARGUMENTS in decided
    again = posted.respond(TEXT, items=[CALL | {"call_id": "new"}])["items"][0]
    assert again["arguments"] == ARGUMENTS
    assert GITLAB in posted.get("/context", accept="text/plain").content.decode()
