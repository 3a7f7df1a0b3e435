"""Texts go when a team's retention is over; rows, digests, scores, states and the record stay."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils import timezone

from metacog.accounts import agents
from metacog.accounts.retention import set_retention
from metacog.audit import chain
from metacog.models import Agent, AgentState, AuditEvent, Policy, Team
from patterns.lessons import lessons
from patterns.lessons.lessons import Proposal
from patterns.memory import memory
from patterns.models import ErrorPattern, Lesson, Memory, Problem, ThoughtThread, ThreadStep
from reviews import retention
from reviews.held import decisions
from reviews.investigation import extensions
from reviews.learning import sweep
from reviews.models import AgentResponse, Decision, Delivery, ExtensionRequest, HeldItem, PatternOrigin
from tests.tables import table

SECRET = "The cause is clearly the cache of the princess."


@pytest.fixture
def kept_30_days(aurora: Any, olga: Any) -> Any:
    set_retention(aurora, 30, olga)
    return aurora


def post(agent: Any, **fields: Any) -> HeldItem:
    body = {"items": [{"kind": "chat", "text": SECRET, "attributes": {"to": "princess"}}], "user_message": SECRET}
    verdict = agent.respond(SECRET, **body | fields)
    return HeldItem.objects.get(public_id=verdict["items"][0]["held"])


def age(days: float) -> None:
    """Let everything that is there have happened so many days ago."""
    then = timezone.now() - timedelta(days=days)
    AgentResponse.objects.update(received_at=then)
    HeldItem.objects.exclude(closed_at=None).update(closed_at=then)
    Delivery.objects.update(created_at=then)


def texts_of(held: HeldItem) -> str:
    """Return everything that is stored about an item's response."""
    rows = [
        *AgentResponse.objects.filter(pk=held.response_id).values(),
        *HeldItem.objects.filter(pk=held.pk).values(),
        *Decision.objects.filter(held=held).values(),
        *Delivery.objects.filter(held=held).values(),
        *AuditEvent.objects.values(),
    ]
    return str(rows)


@pytest.fixture
def decided(kuro: Any, olga: Any, undo_at_once: None, kept_30_days: None) -> Any:
    """An item that was approved, edited, with a reason, and delivered."""
    Agent.objects.update(callback_url="https://agent.example.org/")
    held = post(kuro)
    decisions.decide(held, olga, "edit", edit="Ask the princess.", reason="princess", accept_risk=True)
    Delivery.objects.update(state=Delivery.State.DELIVERED, delivered_at=timezone.now())
    return HeldItem.objects.get(pk=held.pk)


def test_texts_go_and_the_rest_stays(decided: Any) -> None:
    before: dict[Any, list[str]] = {
        AgentResponse: ["public_id", "key", "body_sha256", "hesitation_score", "policy_version", "engine"],
        HeldItem: ["public_id", "sha256", "state", "version", "kind", "hesitation_score"],
        Decision: ["public_id", "verdict", "item_sha256", "text_sha256", "seq", "person"],
        Delivery: ["public_id", "type", "state"],
    }
    stayed = [list(model.objects.values(*fields)) for model, fields in before.items()]
    chain.seal()
    age(31)
    assert "princess" in texts_of(decided)
    assert retention.erase() == 1
    assert "princess" not in texts_of(decided)
    assert [list(model.objects.values(*fields)) for model, fields in before.items()] == stayed
    assert AgentResponse.objects.get().erased_at is not None
    event = AuditEvent.objects.get(action="response-erased")
    assert (event.object_id, event.actor_kind, event.data["days"]) == (decided.response.public_id, "system", 30)
    chain.seal()
    assert chain.verify().problems == []


def test_it_happens_once(decided: Any) -> None:
    age(31)
    assert (retention.erase(), retention.erase()) == (1, 0)
    assert AuditEvent.objects.filter(action="response-erased").count() == 1


@pytest.mark.parametrize(("days", "erased"), [(29.9, 0), (30.1, 1)])
def test_what_is_younger_than_the_retention_stays(decided: Any, days: int, erased: Any) -> None:
    age(days)
    assert retention.erase() == erased


@pytest.mark.parametrize(("days", "erased"), [(29.9, 0), (30.1, 1)])
def test_what_nothing_was_held_of_stays_as_long(kuro: Any, kept_30_days: None, days: int, erased: Any) -> None:
    kuro.respond("The princess waits.", items=[])
    age(days)
    assert retention.erase() == erased


def test_a_team_without_retention_keeps_its_texts_for_ever(decided: Any, aurora: Any, olga: Any) -> None:
    age(3650)
    set_retention(aurora, None, olga)
    assert retention.erase() == 0


def test_another_teams_texts_stay(decided: Any, other: Any, borealis: Any) -> None:
    theirs = other.respond("A word of theirs.", items=[])
    age(31)
    assert retention.erase() == 1
    assert AgentResponse.objects.get(public_id=theirs["id"]).excerpt == "A word of theirs."


def test_what_nobody_decided_yet_is_never_erased(kuro: Any, kept_30_days: None) -> None:
    held = post(kuro)
    age(400)
    assert retention.erase() == 0
    assert HeldItem.objects.get(pk=held.pk).text == SECRET


def test_what_can_still_be_undone_is_not_erased(kuro: Any, olga: Any, kept_30_days: None) -> None:
    held = post(kuro)
    decisions.decide(held, olga, "reject", reason="x")
    age(400)
    assert retention.erase() == 0


def test_a_decision_stays_as_long_as_a_response(decided: Any) -> None:
    age(31)
    HeldItem.objects.update(closed_at=timezone.now() - timedelta(days=1))
    assert retention.erase() == 0, "the agent may not have read it yet"


def test_what_is_still_owed_to_an_agent_is_not_erased(decided: Any) -> None:
    age(31)
    Delivery.objects.update(state=Delivery.State.WAITING)
    assert retention.erase() == 0
    Delivery.objects.update(state=Delivery.State.EXHAUSTED)
    assert retention.erase() == 1


def test_what_a_disabled_agent_is_owed_is_given_up_when_its_time_is_over(decided: Any, olga: Any) -> None:
    agents.set_enabled(decided.response.agent, olga, on=False)
    Delivery.objects.update(state=Delivery.State.WAITING)
    age(29)
    assert retention.erase() == 0
    age(31)
    assert retention.erase() == 1
    assert "princess" not in texts_of(decided)
    assert Delivery.objects.get().last_error == Delivery.Trouble.DISABLED
    assert AuditEvent.objects.filter(action="callback-given-up").count() == 1


def test_what_is_on_its_way_to_an_agent_that_was_just_disabled_is_not_given_up(decided: Any, olga: Any) -> None:
    agents.set_enabled(decided.response.agent, olga, on=False)
    age(31)
    Delivery.objects.update(state=Delivery.State.WAITING, leased_until=timezone.now() + timedelta(seconds=30))
    assert retention.erase() == 0
    assert Delivery.objects.get().state == Delivery.State.WAITING
    Delivery.objects.update(leased_until=timezone.now())
    assert retention.erase() == 1, "whoever sent it died"


def test_callbacks_about_no_item_are_erased_too(kuro: Any, kept_30_days: None) -> None:
    agent = Agent.objects.get()
    for state in Delivery.State.values:
        Delivery.objects.create(agent=agent, type="meta.reflection", body="princess", state=state)
    age(31)
    assert (retention.erase(), retention.erase()) == (2, 0)
    assert list(Delivery.objects.exclude(body="").values_list("state", flat=True)) == ["waiting"]
    assert AuditEvent.objects.filter(action="callback-erased").count() == 2


def test_a_callback_that_was_sent_again_while_its_response_went_is_erased_when_it_is_over(decided: Any) -> None:
    age(31)
    retention.erase()
    Delivery.objects.update(body="princess")
    assert retention.erase() == 1
    assert "princess" not in texts_of(decided)


def test_more_than_one_batch_is_erased(kuro: Any, kept_30_days: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 2)
    for _ in range(5):
        kuro.respond("x", items=[])
        AgentState.objects.update(rate_tat=0)
    age(31)
    assert retention.erase() == 5


def test_the_same_post_again_is_answered_with_what_is_left(
    kuro: Any, olga: Any, undo_at_once: None, kept_30_days: None
) -> None:
    body = json.dumps({"response": SECRET, "items": [{"kind": "chat", "text": SECRET}, {"kind": "ask", "text": "?"}]})
    first = kuro.post("/responses", body, **{"idempotency-key": "once"}).json()
    decisions.decide(HeldItem.objects.get(), olga, "reject", reason="x")
    age(31)
    retention.erase()
    again = kuro.post("/responses", body, **{"idempotency-key": "once"})
    assert (again.status_code, again["Idempotent-Replayed"]) == (200, "true")
    left = again.json()
    assert list(left) == list(first), "the shape of every verdict"
    assert left["id"] == first["id"]
    assert [(item["held"], item["disposition"], item["text"]) for item in left["items"]] == [
        (first["items"][0]["held"], "hold", None),
        (None, "pass", None),
    ]
    assert left["hesitation"]["score"] == first["hesitation"]["score"]
    assert "cache" not in again.content.decode().replace("ep-cache", "")
    other_body = kuro.post("/responses", body + " ", **{"idempotency-key": "once"})
    assert other_body.status_code == 422
    assert AgentResponse.objects.count() == 1


def test_a_response_that_was_never_scored_is_erased(kuro: Any, kept_30_days: None) -> None:
    Agent.objects.update(hesitation_enabled=False)
    verdict = kuro.respond(SECRET)
    age(31)
    assert retention.erase() == 1
    assert AgentResponse.objects.get(public_id=verdict["id"]).wire_verdict()["hesitation"] is None


def test_what_was_erased_can_still_be_looked_at(decided: Any, kuro: Any, olga: Any, as_person: Any) -> None:
    kuro.post("/responses", {"response": "<kuro:chat>princess</kuro:chat> and <kuro:ask>why?</kuro:ask>"})
    age(31)
    retention.erase()
    client = as_person(olga)
    pages = [reverse("responses"), reverse("item", args=[decided.public_id]), reverse("audit")]
    pages += [reverse("response", args=[response.public_id]) for response in AgentResponse.objects.all()]
    for address in pages:
        answer = client.get(address)
        assert answer.status_code == 200, address
        assert "princess" not in answer.content.decode()
    assert kuro.get(f"/held/{decided.public_id}").json()["text"] == ""
    assert kuro.get("/decisions").json()["items"][0]["text"] is None
    assert kuro.get("/context").status_code == 200


# -- the retention itself --------------------------------------------------------------------------


def test_what_an_agent_did_last_goes_once_it_has_posted_nothing_for_so_long(kuro: Any, kept_30_days: None) -> None:
    kuro.respond("Done.", items=[], action="Wrote to the princess.", mode="task", topics=["princess"], cycle=1)
    assert "princess" in kuro.get("/context").content.decode()
    retention.erase()
    assert AgentState.objects.get().intent
    age(31)
    retention.erase()
    assert "princess" not in str(AgentState.objects.values())
    assert "princess" not in kuro.get("/context").content.decode()
    event = AuditEvent.objects.get(action="intent-erased")
    assert (event.object_id, event.data) == (kuro.id, {"days": 30})
    retention.erase()
    assert AuditEvent.objects.filter(action="intent-erased").count() == 1


def test_a_response_whose_items_were_marked_can_still_be_looked_at(
    kuro: Any, olga: Any, kept_30_days: None, as_person: Any
) -> None:
    Policy.objects.update(hold_at=101)
    verdict = kuro.respond(items=[{"kind": kind, "text": SECRET} for kind in ("chat", "action")])
    assert [item["disposition"] for item in verdict["items"]] == ["mark", "note"]
    address, client = reverse("response", args=[verdict["id"]]), as_person(olga)
    assert "Returned text" in client.get(address).content.decode()
    age(31)
    assert retention.erase() == 1
    page = client.get(address)
    assert page.status_code == 200
    assert "princess" not in page.content.decode()


def test_the_retention_is_set_with_its_event(aurora: Any, olga: Any) -> None:
    assert set_retention(aurora, 30, olga)
    assert not set_retention(aurora, 30, olga), "that is no change"
    assert set_retention(aurora, None, olga)
    told = AuditEvent.objects.order_by("id").values_list("action", "actor", "before", "after")
    assert list(told) == [
        ("retention-changed", "olga", "for ever", "30 days"),
        ("retention-changed", "olga", "30 days", "for ever"),
    ]


@table("days", [0, -1, 36_501], rolled_back=True)
def test_a_retention_that_makes_no_sense_is_refused(aurora: Any, olga: Any, days: int) -> None:
    with pytest.raises(ValidationError) as raised:
        set_retention(aurora, days, olga)
    assert list(raised.value.message_dict) == ["retention_days"]
    assert Team.objects.get().retention_days is None
    assert not AuditEvent.objects.exists()


def test_nothing_of_a_problem_or_of_the_other_parts_of_a_verdict_is_left(kuro: Any, kept_30_days: None) -> None:
    step = {"problem": "bug", "session": "s", "approach": "princess", "errors": ["princess"], "topics": ["princess"]}
    for _ in range(3):
        kuro.respond("The princess fails for some reason.", items=[], user_message="Where is the princess?", **step)
    shown = [*AgentResponse.objects.values(), *Problem.objects.values()]
    assert str(shown).count("princess") > 20
    age(31)
    assert retention.erase() == 3, "the problem was worked on today"
    Problem.objects.update(touched_at=timezone.now() - timedelta(days=31))
    assert retention.erase() == 1
    assert retention.erase() == 0
    assert "princess" not in str([*AgentResponse.objects.values(), *Problem.objects.values()])
    assert AuditEvent.objects.filter(action="problem-erased").count() == 1
    verdict = AgentResponse.objects.latest("pk").wire_verdict()
    assert verdict["stuck"]["points"] == 8
    assert [signal["type"] for signal in verdict["stuck"]["signals"]] == [
        "repeated-approach", "error-loop", "uncertainty",
    ]  # fmt: skip
    assert verdict["quality"]["score"] > 0
    # Taken up again, it counts anew.
    again = [kuro.respond("It fails for some reason.", items=[], **step)["stuck"] for _ in range(3)]
    assert [(each["points"], each["suggest"]) for each in again] == [(2, False), (2, False), (8, True)]
    assert Problem.objects.get().erased_at is None


def test_what_a_verdict_says_of_threads_names_none_of_them(kuro: Any, kept_30_days: None) -> None:
    said = kuro.respond("Perhaps.", items=[], thread="The princess")["threads"]
    assert "princess" in said[0]["reason"]
    age(31)
    retention.erase()
    assert AgentResponse.objects.get().wire_verdict()["threads"] == [said[0] | {"reason": None, "spans": []}]


def test_what_a_second_look_taught_goes_with_it_though_the_item_still_waits(kuro: Any, kept_30_days: None) -> None:
    for number in range(3):
        kuro.respond(f"Case {number} is closed.", items=[])
    held = kuro.respond("Your refund will arrive in 30 days. The cause is clearly the cache.")["items"][0]["held"]
    look = kuro.respond("Your refund will arrive in 14 days.", items=[], replies_to_held=held)["id"]
    sweep.learn()
    assert PatternOrigin.objects.get(row=look).evidence
    age(31)
    assert retention.erase() == 4
    assert PatternOrigin.objects.get(row=look).evidence == {}
    assert HeldItem.objects.get().text


def test_nothing_is_learnt_from_a_text_that_is_erased_meanwhile(
    kuro: Any, kept_30_days: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        kuro.respond(f"Case {number} is closed.", items=[])
    kuro.respond("Your refund will arrive in 30 days.", items=[], session="s")
    kuro.respond("Sorry.", items=[], session="s", user_message="No, that is wrong: a refund takes 14 days, not 30.")
    age(31)
    read = sweep._taught

    def read_late(*args: Any) -> Any:
        taught = read(*args)
        assert taught
        assert retention.erase() == 5
        return taught

    monkeypatch.setattr(sweep, "_taught", read_late)
    sweep.learn()
    assert not PatternOrigin.objects.exists()
    assert list(ErrorPattern.objects.values_list("keywords", flat=True)) == [["cache"]]


def test_a_trail_goes_with_the_retention_once_its_thread_is_resolved(
    kuro: Any, kept_30_days: None, olga: Any, as_person: Any
) -> None:
    for title in ("Kept", "Paused", "Over"):
        kuro.post("/threads", {"title": title, "note": "princess", "next": "princess"})
    kuro.post("/threads/paused/pause", {"note": "princess"})
    kuro.post("/threads/over/resolve", {"note": "princess"})
    assert retention.erase() == 0
    long_ago = timezone.now() - timedelta(days=31)
    ThoughtThread.objects.update(touched_at=long_ago)
    ThoughtThread.objects.filter(state="resolved").update(resolved_at=long_ago)
    assert retention.erase() == 1
    assert retention.erase() == 0
    row = ThoughtThread.objects.get(state="resolved")
    assert (row.title, row.touches, row.next, row.erased_at is None) == ("Over", 1, "", False)
    assert list(row.steps.values_list("op", "text")) == [("create", ""), ("resolve", "")]
    event = AuditEvent.objects.get(action="thread-erased")
    assert (event.object_id, event.data) == (row.public_id, {"days": 30})
    assert ThreadStep.objects.filter(text="princess").count() == 3
    page = as_person(olga).get(reverse("thread", args=[row.public_id])).content.decode()
    assert "princess" not in page
    assert "were erased" in page
    assert kuro.get("/context").json()["articles"] is None
    assert kuro.get("/threads/over").json()["trail"] == []


def test_a_memory_goes_with_the_retention_once_it_is_retired(
    kuro: Any, kept_30_days: None, carla: Any, as_person: Any
) -> None:
    for text in ("The API supports pagination.", "The API does not support pagination.", SECRET):
        kuro.post("/memory", {"text": text, "topic": "API", "source": "run 12"})
    old, new, pending = Memory.objects.order_by("pk")
    memory.retire(old, carla)
    for days, left in ((29, 1), (31, 0)):
        Memory.objects.update(created_at=timezone.now() - timedelta(days=90))
        Memory.objects.exclude(retired_at=None).update(retired_at=timezone.now() - timedelta(days=days))
        retention.erase()
        assert Memory.objects.exclude(text="").filter(pk=old.pk).count() == left
    old.refresh_from_db()
    assert (old.text, old.topic, old.source, len(old.sha256)) == ("", "", "", 64)
    assert set(Memory.objects.filter(erased_at=None)) == {new, pending}
    assert not PatternOrigin.objects.exclude(evidence={}).exists()
    assert AuditEvent.objects.get(action="memory-erased").data == {"days": 30, "sha256": old.sha256}
    assert as_person(carla).get(reverse("memory", args=[old.public_id])).status_code == 200
    assert kuro.post("/memory", {"text": "The API supports pagination."}).json()["state"] == "retired"


def test_a_request_for_more_steps_goes_with_the_retention_once_it_is_answered(
    kuro: Any, kept_30_days: None, alice: Any, as_person: Any
) -> None:
    reasons = {"a": "need more time, princess", "b": "Need TSMC Q3 revenue, princess", "c": "princess"}
    for problem, reason in reasons.items():
        kuro.post("/extensions", {"problem": problem, "reason": reason, "evidence": ["princess"]})
    first = ExtensionRequest.objects.select_related("agent__team").get(problem="a")
    extensions.decide(first, alice, is_approved=False, answer="princess", guidance="princess")
    for days, left in ((29, 3), (31, 1)):
        ExtensionRequest.objects.exclude(decided_at=None).update(decided_at=timezone.now() - timedelta(days=days))
        retention.erase()
        assert ExtensionRequest.objects.filter(erased_at=None).count() == left
    erased = ExtensionRequest.objects.exclude(erased_at=None)
    assert "princess" not in str(list(erased.values()))
    assert "TSMC" not in str([row.judgement for row in erased])
    assert sorted(erased.values_list("state", "by")) == [("approved", "rule"), ("rejected", "person")]
    assert as_person(alice).get(reverse("extension", args=[first.public_id])).status_code == 200
    assert as_person(alice).get("/extensions/").status_code == 200
    assert kuro.get(f"/extensions/{first.public_id}").json()["request"]["reason"] == ""


def test_requests_and_callbacks_of_another_team_stay(kuro: Any, other: Any, kept_30_days: None) -> None:
    for agent in (kuro, other):
        agent.post("/extensions", {"problem": "p", "reason": "need more time, princess"})
        Delivery.objects.create(
            agent=Agent.objects.get(public_id=agent.id), type="meta.reflection", body="princess", state="delivered"
        )
    age(31)
    ExtensionRequest.objects.update(decided_at=timezone.now() - timedelta(days=31))
    assert retention.erase() == 2
    theirs = ExtensionRequest.objects.get(agent__public_id=other.id)
    assert (theirs.reason, theirs.erased_at) == ("need more time, princess", None)
    assert Delivery.objects.exclude(body="").get().agent.public_id == other.id


def test_what_the_admin_calls_another_row_stays(
    kuro: Any, aurora: Any, kept_30_days: None, carla: Any, as_person: Any
) -> None:
    gone, kept = (lessons.write(aurora, None, text, [], carla) for text in ("princess", "in force"))
    change = as_person(carla).post
    for lesson in (gone, kept):
        change(reverse("admin:patterns_lesson_changelist"), {"action": "retire", "_selected_action": lesson.pk})
    kind = ContentType.objects.get_for_model(ThoughtThread)
    LogEntry.objects.create(
        user=carla, content_type=kind, object_id=str(gone.pk), object_repr="a thread", action_flag=CHANGE
    )
    assert sorted(LogEntry.objects.values_list("object_repr", flat=True)) == ["a thread", "in force", "princess"]
    Lesson.objects.filter(pk=gone.pk).update(changed_at=timezone.now() - timedelta(days=31))
    assert retention.erase() == 1
    assert sorted(LogEntry.objects.values_list("object_repr", flat=True)) == ["a thread", "in force", "…"]


def test_a_lesson_goes_with_the_retention_unless_it_is_in_force(
    kuro: Any, aurora: Any, kept_30_days: None, carla: Any, as_person: Any
) -> None:
    agent = Agent.objects.select_related("team").get(public_id=kuro.id)

    def proposals(response: Any) -> list[Any]:
        both = ("kept", "dismissed")
        return [Proposal("gap", about, lambda _count: "princess", ("princess",), (response,)) for about in both]

    _proposed, dismissed = lessons.propose(agent, proposals("resp_1"), "refl_1", timezone.now())
    form = {"action": "dismiss", "_selected_action": dismissed.pk}
    as_person(carla).post(reverse("admin:patterns_lesson_changelist"), form)
    assert LogEntry.objects.get().object_repr == "princess"
    lessons.write(aurora, None, "in force", [], carla)
    assert retention.erase() == 0
    Lesson.objects.update(changed_at=timezone.now() - timedelta(days=31))
    assert retention.erase() == 2
    assert retention.erase() == 0
    assert list(Lesson.objects.order_by("pk").values_list("text", "topics", "state")) == [
        ("", [], "proposed"), ("", [], "dismissed"), ("in force", [], "active"),
    ]  # fmt: skip
    assert AuditEvent.objects.filter(action="lesson-erased").count() == 2
    assert LogEntry.objects.get().object_repr == "…"
    (told,) = lessons.propose(agent, proposals("resp_2"), "refl_2", timezone.now())
    assert (told.text, told.erased_at) == ("princess", None), "what is proposed anew says why again"
    assert Lesson.objects.get(state="dismissed").text == ""
