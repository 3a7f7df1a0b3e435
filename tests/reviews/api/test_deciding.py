"""The agent's second look: what it may decide, when, and what it is told."""

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from metacog.db import rows
from metacog.models import AgentState, AuditEvent, Policy
from reviews.held import decisions
from reviews.held.decisions import releasing
from reviews.models import Decision, Delivery, HeldItem
from tests.tables import table

pytestmark = pytest.mark.django_db


def decide(agent: Any, held: Any, verdict: str = "withdraw", **body: Any) -> Any:
    return agent.post(f"/held/{held}/decision", {"verdict": verdict, "reason": "looked again"} | body)


def by_person(person: Any, held: Any, verdict: str = "approve", **rest: Any) -> Any:
    return decisions.decide(HeldItem.objects.get(public_id=held), person, verdict, **rest)[0]


def test_it_lists_what_is_held_the_first_due_first_in_the_contracts_shape(kuro: Any) -> None:
    ids = [kuro.hold(kind) for kind in ("chat", "remember", "task")]
    now = timezone.now()
    for minutes, held in zip((5, 1, 3), ids, strict=True):
        HeldItem.objects.filter(public_id=held).update(review_due_at=now + timedelta(minutes=minutes))
    page = kuro.get("/held?state=pending").json()
    assert [item["id"] for item in page["items"]] == [ids[1], ids[2], ids[0]]
    assert page["next"] is None
    item = page["items"][0]
    assert list(item) == [
        "id", "response", "index", "kind", "text", "sha256", "version", "state", "held_at", "review_due_at",
        "expires_at", "hesitation", "metadata", "decision", "approvals", "waits_for",
    ]  # fmt: skip
    assert item["sha256"] == hashlib.sha256(item["text"].encode()).hexdigest()
    assert (item["state"], item["version"], item["hesitation"]["score"]) == ("pending", 1, 50)
    assert kuro.get(f"/held/{ids[1]}").json() == item


def test_a_page_of_long_texts_holds_fewer_of_them(kuro: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MOST_CHARACTERS", 100)
    held = [kuro.respond("clearly the cache " * times)["items"][0]["held"] for times in (1, 3, 4, 10, 1)]

    def pages(path: str, name: str) -> Any:
        after, found = "", []
        while after is not None:
            page = kuro.get(f"{path}?after={after}" if after else path).json()
            found.append([each[name] for each in page["items"]])
            after = page["next"]
        return found

    cut = [held[:2], held[2:3], held[3:4], held[4:]]
    assert pages("/held", "id") == cut
    HeldItem.objects.update(review_due_at=timezone.now())
    for each in held:
        answer = kuro.post(f"/held/{each}/decision", {"verdict": "approve", "reason": "measured"})
        assert answer.status_code == 201
    assert pages("/decisions", "held") == cut


def test_it_pages_through_held_items_without_gap_or_repeat(kuro: Any) -> None:
    ids = [kuro.hold() for _ in range(5)]
    HeldItem.objects.update(review_due_at=timezone.now())
    seen, after = [], ""
    for _ in range(3):
        page = kuro.get(f"/held?limit=2&after={after}").json()
        seen += [item["id"] for item in page["items"]]
        after = page["next"]
    assert (seen, after) == (ids, None)


@table(
    ("verdict", "state", "text"),
    [
        ("approve", "approved", "whole"),
        ("edit", "edited", "It may be the disk."),
        ("reject", "rejected", None),
        ("withdraw", "withdrawn", None),
    ],
    rolled_back=True,
)
def test_its_decision_goes_out_at_once(kuro: Any, verdict: Any, state: str, text: str) -> None:
    held = kuro.hold()
    kuro.respond("on to the next thing")
    answer = decide(kuro, held, verdict, **({"text": text} if verdict == "edit" else {}))
    assert answer.status_code == 201, answer.content
    decision = answer.json()
    told = ["id", "seq", "held", "verdict", "text", "reason", "by", "decided_at", "arguments"]
    assert list(decision) == [*told, "answer", "permission", "used_at", "outcome", "metadata"]
    assert decision["text"] == (HeldItem.objects.get().text if text == "whole" else text)
    assert (decision["seq"], decision["held"], decision["by"]) == (1, held, "agent")
    assert kuro.get("/decisions").json() == {"items": [decision], "next": None}
    assert kuro.get(f"/held/{held}").json()["state"] == state
    assert kuro.get("/held").json()["items"] == []
    assert [item["id"] for item in kuro.get(f"/held?state={state}").json()["items"]] == [held]


def test_approving_wants_a_later_response_or_a_due_review(kuro: Any) -> None:
    held = kuro.hold()
    early = decide(kuro, held, "approve")
    assert early.status_code == 409
    assert early.json()["decision"] is None
    HeldItem.objects.update(review_due_at=timezone.now())
    assert decide(kuro, held, "approve").status_code == 201


@table(
    ("first", "later", "status"),
    [(4, 5, 201), (4, 4, 409), (4, 3, 409), (4, None, 201), (None, 1, 201)],
    rolled_back=True,
)
def test_a_later_response_has_a_higher_cycle_where_cycles_are_given(
    kuro: Any, first: Any, later: Any, status: int
) -> None:
    held = kuro.hold(cycle=first)
    kuro.respond("next", cycle=later)
    assert decide(kuro, held, "approve").status_code == status


@table("verdict", ["reject", "withdraw"], rolled_back=True)
def test_rejecting_and_withdrawing_are_always_allowed_whatever_the_kind(kuro: Any, verdict: Any) -> None:
    assert decide(kuro, kuro.hold("remember"), verdict).status_code == 201


@table(("kind", "status"), [("chat", 201), ("task", 201), ("remember", 403)], rolled_back=True)
def test_it_releases_only_the_kinds_its_policy_leaves_to_it(kuro: Any, kind: str, status: int) -> None:
    held = kuro.hold(kind)
    kuro.respond("next")
    assert decide(kuro, held, "approve").status_code == status


def test_its_policy_may_leave_everything_to_people(kuro: Any) -> None:
    held = kuro.hold()
    kuro.respond("next")
    Policy.objects.update(release={"chat": "person", "task": "person", "remember": "person"})
    from patterns.patterns import scorer

    scorer._scorers.kept.clear()  # versions are never changed in place outside of a test
    assert decide(kuro, held, "approve").status_code == 403
    assert decide(kuro, held, "edit", text="milder").status_code == 403


def test_an_edit_that_would_be_held_again_is_refused(kuro: Any) -> None:
    held = kuro.hold()
    kuro.respond("next")
    answer = decide(kuro, held, "edit", text="It is obviously the cache.")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/text"
    assert HeldItem.objects.get().state == "pending"


@table("shown", [{"version": 2}, {"version": 0}, {"sha256": "0" * 64}], rolled_back=True)
def test_a_decision_about_something_else_than_what_stands_is_409(kuro: Any, shown: Any) -> None:
    held = kuro.hold()
    answer = decide(kuro, held, **shown)
    assert answer.status_code == 409
    assert HeldItem.objects.get().state == "pending"


def test_what_was_shown_may_be_named(kuro: Any) -> None:
    held = kuro.hold()
    item = kuro.get(f"/held/{held}").json()
    assert decide(kuro, held, version=item["version"], sha256=item["sha256"]).status_code == 201


def test_the_same_again_gets_the_first_decision_and_another_gets_409_with_it(kuro: Any) -> None:
    held = kuro.hold()
    first = decide(kuro, held, "withdraw")
    again = decide(kuro, held, "withdraw", reason="worded otherwise", version=1)
    assert (again.status_code, again.json()) == (200, first.json())
    differs = decide(kuro, held, "reject")
    assert differs.status_code == 409
    assert differs.json()["decision"] == first.json()
    assert Decision.objects.count() == 1


def test_the_same_edit_again_must_have_the_same_text(kuro: Any) -> None:
    held = kuro.hold()
    kuro.respond("next")
    assert decide(kuro, held, "edit", text="perhaps").status_code == 201
    assert decide(kuro, held, "edit", text="perhaps").status_code == 200
    assert decide(kuro, held, "edit", text="perhaps not").status_code == 409


def test_it_hears_nothing_of_a_persons_decision_until_it_can_no_longer_be_undone(kuro: Any, alice: Any) -> None:
    held = kuro.hold()
    decision = by_person(alice, held, "reject", reason="not measured")
    assert kuro.get(f"/held/{held}").json()["state"] == "pending"
    assert [item["id"] for item in kuro.get("/held").json()["items"]] == [held]
    assert kuro.get("/held?state=rejected").json()["items"] == []
    assert kuro.get("/decisions").json()["items"] == []
    answer = decide(kuro, held, "withdraw")
    assert answer.status_code == 409
    assert answer.json()["decision"] is None
    Decision.objects.filter(pk=decision.pk).update(release_at=timezone.now())
    (heard,) = kuro.get("/decisions").json()["items"]
    assert (heard["verdict"], heard["reason"], heard["by"], heard["text"]) == ("reject", "not measured", "person", None)
    assert kuro.get(f"/held/{held}").json()["state"] == "rejected"
    assert decide(kuro, held, "withdraw").json()["decision"] == heard


def test_undoing_puts_it_back_and_the_agent_never_knew(kuro: Any, alice: Any) -> None:
    held = kuro.hold()
    decision = by_person(alice, held)
    assert decisions.undo(decision, alice)
    assert not decisions.undo(decision, alice)
    assert kuro.get(f"/held/{held}").json()["state"] == "pending"
    Decision.objects.update(release_at=timezone.now())
    assert kuro.get("/decisions").json()["items"] == []
    actions = list(AuditEvent.objects.filter(object_id=held).order_by("id").values_list("action", "before", "after"))
    assert actions == [
        ("chat-held", "", "pending"),
        ("chat-approved", "pending", "approved"),
        ("chat-decision-undone", "approved", "pending"),
    ]


def test_only_the_person_who_decided_may_undo_and_only_in_time(kuro: Any, alice: Any, bob: Any) -> None:
    decision = by_person(alice, kuro.hold())
    assert not decisions.undo(decision, bob)
    Decision.objects.update(release_at=timezone.now())
    assert not decisions.undo(decision, alice)


def test_people_may_approve_what_policy_leaves_to_people_at_once(kuro: Any, alice: Any, undo_at_once: None) -> None:
    held = kuro.hold("remember")
    by_person(alice, held)
    (heard,) = kuro.get("/decisions").json()["items"]
    assert (heard["verdict"], heard["by"]) == ("approve", "person")


def test_an_edit_may_repeat_what_the_agent_was_told(kuro: Any, alice: Any, undo_at_once: None) -> None:
    Policy.objects.update(profile="aware", weights={"no-source": 50})
    held = kuro.hold(user_message="Are there 4500 rows?")
    with pytest.raises(decisions.StillRisky):
        by_person(alice, held, "edit", edit="There are 4,800 rows.")
    by_person(alice, held, "edit", edit="There are 4,500 rows.")
    assert kuro.get("/decisions").json()["items"][0]["text"] == "There are 4,500 rows."


def test_a_person_is_warned_of_a_risky_edit_and_may_insist(kuro: Any, alice: Any, undo_at_once: None) -> None:
    held = kuro.hold()
    with pytest.raises(decisions.StillRisky) as warned:
        by_person(alice, held, "edit", edit="Obviously the cache.")
    assert warned.value.edited.hesitation.score == 50
    by_person(alice, held, "edit", edit="Obviously the cache.", accept_risk=True)
    assert kuro.get("/decisions").json()["items"][0]["text"] == "Obviously the cache."


def test_the_second_person_is_told_what_the_first_decided(kuro: Any, alice: Any, bob: Any) -> None:
    held = kuro.hold()
    first = by_person(alice, held)
    assert by_person(alice, held) == first
    with pytest.raises(decisions.Standing) as standing:
        by_person(bob, held, "reject")
    assert standing.value.decision == first


@table("verdict", ["approve", "reject"], rolled_back=True)
def test_what_another_decided_alike_is_nobodys_own(kuro: Any, alice: Any, bob: Any, verdict: Any) -> None:
    held = kuro.hold()
    by_person(alice, held, verdict)
    with pytest.raises(decisions.Standing):
        by_person(bob, held, verdict)
    Decision.objects.update(release_at=timezone.now())  # no sweep has come to it yet
    answer = decide(kuro, held, verdict)
    assert (answer.status_code, answer.json()["decision"]["by"]) == (409, "person")


def test_an_edit_is_not_scored_once_hesitation_is_switched_off(kuro: Any, alice: Any, aurora: Any) -> None:
    by_agent, by_alice = kuro.hold(), kuro.hold()
    kuro.respond("next")
    aurora.agents.update(hesitation_enabled=False)
    assert decide(kuro, by_agent, "edit", text="It is obviously the cache.").status_code == 201
    assert by_person(alice, by_alice, "edit", edit="It is obviously the cache.").verdict == "edit"


def test_it_expires_what_nobody_decided_and_never_approves_it(kuro: Any) -> None:
    held = kuro.hold()
    HeldItem.objects.update(expires_at=timezone.now())
    assert decide(kuro, held, "approve").status_code == 409
    (expired,) = kuro.get("/decisions").json()["items"]
    assert (expired["verdict"], expired["text"], expired["by"]) == ("expire", None, "system")
    assert kuro.get(f"/held/{held}").json()["state"] == "expired"


def test_what_has_expired_is_not_released_though_others_are_settled_before_it(
    kuro: Any, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releasing, "BATCH", 1)
    _, by_agent, by_alice = (kuro.hold() for _ in range(3))
    HeldItem.objects.update(expires_at=timezone.now(), review_due_at=timezone.now())
    HeldItem.objects.filter(public_id=by_agent).update(expires_at=timezone.now())  # the last to be settled
    assert decide(kuro, by_agent, "approve").status_code == 409
    with pytest.raises(decisions.Standing):
        by_person(alice, by_alice, "approve")
    while decisions.settle():
        pass
    assert set(HeldItem.objects.values_list("state", flat=True)) == {"expired"}


def test_the_feed_counts_each_agent_without_gaps(kuro: Any, other: Any, aurora: Any) -> None:
    for _ in range(3):
        decide(kuro, kuro.hold())
        decide(other, other.hold())
    page = kuro.get("/decisions?after=1&limit=1").json()
    assert ([item["seq"] for item in page["items"]], page["next"]) == ([2], "2")
    assert [item["seq"] for item in kuro.get(f"/decisions?after={page['next']}").json()["items"]] == [3]
    assert list(AgentState.objects.values_list("decision_seq", flat=True)) == [3, 3]


def test_approved_text_that_comes_back_passes_for_that_kind_and_agent_only(kuro: Any, other: Any) -> None:
    held = kuro.hold()
    text = HeldItem.objects.get().text
    kuro.respond("next")
    decide(kuro, held, "approve")
    again = kuro.respond(text)
    assert again["hesitation"]["score"] == 50
    assert (again["items"][0]["disposition"], again["items"][0]["recognised"]) == ("pass", held)
    assert again["schedule"] is None
    for agent, body in [
        (kuro, {"items": [{"kind": "remember", "text": text}]}),
        (kuro, {"items": [{"kind": "chat", "text": text + " "}]}),
        (other, {"items": [{"kind": "chat", "text": text}]}),
    ]:
        assert agent.respond(text, **body)["items"][0]["disposition"] == "hold"


@table(("verdict", "passes"), [("edit", True), ("reject", False), ("withdraw", False)], rolled_back=True)
def test_only_released_text_is_recognised(kuro: Any, verdict: Any, passes: Any, alice: Any, undo_at_once: None) -> None:
    held = kuro.hold()
    text = "Obviously it was the cache after all."
    by_person(
        alice,
        held,
        verdict if verdict != "withdraw" else "reject",
        edit=text if verdict == "edit" else None,
        accept_risk=True,
    )
    back = text if verdict == "edit" else HeldItem.objects.get().text
    assert (kuro.respond(back)["items"][0]["disposition"] == "pass") is passes


def test_it_is_recognised_for_seven_days_and_not_before_it_is_released(kuro: Any, alice: Any) -> None:
    held = kuro.hold()
    text = HeldItem.objects.get().text
    decision = by_person(alice, held)
    assert kuro.respond(text)["items"][0]["disposition"] == "hold"
    Decision.objects.filter(pk=decision.pk).update(release_at=timezone.now())
    kuro.get("/decisions")
    assert kuro.respond(text)["items"][0]["disposition"] == "pass"
    Decision.objects.update(released_at=timezone.now() - timedelta(days=7, seconds=1))
    assert kuro.respond(text)["items"][0]["disposition"] == "hold"


def test_a_callback_is_owed_only_where_there_is_an_address(kuro: Any, aurora: Any) -> None:
    decide(kuro, kuro.hold())
    assert Delivery.objects.count() == 0
    aurora.agents.update(callback_url="https://agent.example/hook")
    held = kuro.hold()
    decision = decide(kuro, held).json()
    delivery = Delivery.objects.get()
    import json

    body = json.loads(delivery.body)
    assert (body["type"], body["data"]) == ("item.decided", decision)
    assert (delivery.type, delivery.state, delivery.held.public_id) == ("item.decided", "waiting", held)
    kuro.hold()
    HeldItem.objects.update(expires_at=timezone.now())
    kuro.get("/decisions")
    assert list(Delivery.objects.order_by("id").values_list("type", flat=True)) == ["item.decided", "item.expired"]


def test_a_decision_binds_what_was_shown(kuro: Any, alice: Any, undo_at_once: None) -> None:
    held = kuro.hold()
    item = HeldItem.objects.get()
    by_person(alice, held, "edit", edit="milder", circumstances=decisions.Circumstances(1, item.sha256))
    decision = Decision.objects.get()
    assert (decision.item_version, decision.item_sha256) == (1, item.sha256)
    assert decision.text_sha256 == hashlib.sha256(b"milder").hexdigest()
    event = AuditEvent.objects.get(action="chat-edited")
    assert (event.data["item_sha256"], event.data["text_sha256"]) == (item.sha256, decision.text_sha256)
