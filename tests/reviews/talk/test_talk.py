"""Comments on an item, whose it is, and a snooze: what people see of it, what is recorded, and who may."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from metacog.models import AuditEvent, Channel, Notice, PersonNotices, Team
from metacog.notices import mail as way_out
from reviews import retention
from reviews.held import decisions, talk
from reviews.models import AgentResponse, Comment, HeldItem, ItemTalk, Mention
from reviews.outbox import notifications
from tests.conftest import NOON
from tests.metacog.notices.conftest import tell
from tests.reviews.api.test_review import program_of
from tests.tables import table

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def item(caller: Any) -> HeldItem:
    return HeldItem.objects.select_related("agent").get(public_id=caller.hold())


def rows(client: Any, query: str = "") -> list[str]:
    return re.findall(r'id="row-(held_\w+)"', client.get(f"/queue/{query}").content.decode())


def actions() -> list[str]:
    return list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))


@table(
    ("text", "expected"),
    [
        ("@bob look", [("mention", "bob"), ("text", " look")]),
        ("請@bob看一下", [("text", "請"), ("mention", "bob"), ("text", "看一下")]),
        ("＠BOB", [("mention", "bob")]),
        ("@bobby", [("unknown", "bobby")]),
        ("@dan.w, @dan", [("mention", "dan.w"), ("text", ", "), ("mention", "dan")]),
        ("ends with @dan.", [("text", "ends with "), ("mention", "dan"), ("text", ".")]),
        ("bob@example.org", [("text", "bob@example.org")]),
        ("see https://x.example/@bob.", [("text", "see "), ("link", "https://x.example/@bob"), ("text", ".")]),
        ("https://", [("text", "https://")]),
        ("a @ b", [("text", "a @ b")]),
    ],
)
def test_a_comment_is_parted_into_names_links_and_text(text: str, expected: list[tuple[str, str]]) -> None:
    from metacog.models import User

    members = [User(pk=number, username=name) for number, name in enumerate(["dan", "dan.w", "bob"], 1)]
    assert [(kind, said) for kind, said, _person in talk.pieces(text, members)] == expected


def test_a_comment_is_shown_counted_and_recorded_without_its_text(
    alice: Any, bob: Any, kuro: Any, as_person: Any
) -> None:
    held, client = item(kuro), as_person(alice)
    answer = client.post(f"/queue/{held.public_id}/comments", {"text": "@bob <b>why</b>? ask @nobody"}, follow=True)
    page = answer.content.decode()
    assert "Nobody in the team is called @nobody" in page
    assert '<b class="mention">@bob</b> &lt;b&gt;why&lt;/b&gt;? ask <span class="unknown"' in page
    assert "<span>1 comment</span>" in page
    event = AuditEvent.objects.get(action="chat-commented")
    assert event.data["mentions"] == ["bob"]
    assert "why" not in str(event.data)
    assert list(Mention.objects.values_list("person__username", flat=True)) == ["bob"]


def test_its_author_deletes_a_comment_for_some_minutes(alice: Any, bob: Any, kuro: Any, as_person: Any) -> None:
    held = item(kuro)
    said, _unknown = talk.comment(held, alice, "Wrong place.")
    path = f"/queue/{held.public_id}/comments/{said.public_id}/delete"
    assert as_person(bob).post(path).status_code == 403
    Comment.objects.update(created_at=timezone.now() - talk.DELETABLE_FOR)
    as_person(alice).post(path)
    assert Comment.objects.get().text == "Wrong place.", "it may have been answered"
    Comment.objects.update(created_at=timezone.now())
    page = as_person(alice).post(path, follow=True).content.decode()
    assert ("Deleted by its author." in page, "Wrong place." in page) == (True, False)
    assert (actions()[-1], ItemTalk.objects.get().comments) == ("chat-comment-deleted", 0)


@table(
    ("path", "fields"),
    [("comments", {"text": "Mine."}), ("assign", {"me": "1"}), ("snooze", {"until": "hour"})],
    rolled_back=True,
)
def test_only_who_decides_in_the_team_does_any_of_it(
    path: str, fields: dict[str, str], mallory: Any, victor: Any, kuro: Any, as_person: Any
) -> None:
    url = f"/queue/{item(kuro).public_id}/{path}"
    assert [as_person(person).post(url, fields).status_code for person in (mallory, victor)] == [404, 403]
    assert not ItemTalk.objects.exists()


def test_of_two_who_assign_at_once_the_last_wins_and_is_told_who_was_first(
    alice: Any, bob: Any, carla: Any, kuro: Any, as_person: Any
) -> None:
    held, path = item(kuro), ""
    path = f"/queue/{held.public_id}/assign"
    as_person(bob).post(path, {"assignee": "carla", "version": "0"})
    page = as_person(alice).post(path, {"me": "1", "version": "0"}, follow=True).content.decode()
    assert "Bob had assigned it to Carla meanwhile. It is assigned to you now." in page
    assert '<span class="whose">@alice</span>' in page
    assert actions()[-2:] == ["chat-assigned", "chat-assigned"]
    as_person(alice).post(path, {"assignee": "", "version": "2"})
    assert (ItemTalk.objects.get().assignee, actions()[-1]) == (None, "chat-unassigned")


def undone(client: Any, page: str) -> Any:
    """Press the last Undo of a page."""
    forms = re.findall(r'<form class="inline undo" method="post" action="([^"]+)">(.*?)</form>', page, re.DOTALL)
    path, inner = forms[-1]
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', inner))
    return client.post(path, {name: value for name, value in fields.items() if name != "csrfmiddlewaretoken"})


def test_a_snooze_and_an_assignment_are_taken_back_by_one_press(
    alice: Any, bob: Any, kuro: Any, as_person: Any
) -> None:
    held, client = item(kuro), as_person(alice)
    talk.assign(held, bob, alice)
    done = client.post(f"/queue/{held.public_id}/assign", {"me": "1"}, headers={"HX-Request": "true"})
    assert "data-announce>It is assigned to you now." in done.content.decode()
    undone(client, done.content.decode())
    assert ItemTalk.objects.get().assignee == bob
    client.post(f"/queue/{held.public_id}/snooze", {"until": "hour"})
    page = client.get("/queue/").content.decode()
    assert "Snoozed until" in page
    assert rows(client) == []
    undone(client, page)
    assert rows(client) == [held.public_id]


@table("name", ["victor", "mallory", "nobody"], rolled_back=True)
def test_an_item_is_assigned_to_no_one_who_cannot_decide_it(
    name: str, alice: Any, victor: Any, mallory: Any, kuro: Any, as_person: Any
) -> None:
    held = item(kuro)
    path = f"/queue/{held.public_id}/assign"
    answer = as_person(alice).post(path, {"assignee": name}, headers={"hx-request": "true"})
    assert answer.status_code == 422
    assert "is not a reviewer of this team" in answer.content.decode()
    assert not ItemTalk.objects.exclude(assignee=None).exists()


def test_a_snoozed_item_leaves_the_queue_until_then_and_comes_back_by_itself(
    alice: Any, bob: Any, kuro: Any, as_person: Any
) -> None:
    held, client = item(kuro), as_person(alice)
    token = client.get("/queue/").content.decode()
    page = client.post(f"/queue/{held.public_id}/snooze", {"until": "hour"}, follow=True).content.decode()
    assert "Snoozed until" in page
    assert "It still expires on" in page
    assert rows(as_person(bob)) == []
    assert rows(as_person(bob), "?snoozed=1") == [held.public_id]
    assert "Snoozed&nbsp;1" in as_person(bob).get("/queue/").content.decode()
    known = re.search(r'name="token" value="([^"]*)"', token)[1]
    assert client.get("/queue/changes", {"token": known}).status_code == 200
    ItemTalk.objects.update(snoozed_until=timezone.now())
    assert rows(as_person(bob)) == [held.public_id]


def by_mention(held: HeldItem, alice: Any, bob: Any) -> None:
    talk.comment(held, alice, "@bob, can you?")


def by_a_word(held: HeldItem, alice: Any, bob: Any) -> None:
    talk.comment(held, alice, "@alice waits for the deploy.")


def by_assigning(held: HeldItem, alice: Any, bob: Any) -> None:
    talk.assign(held, bob, alice)


def by_claiming(held: HeldItem, alice: Any, bob: Any) -> None:
    talk.assign(held, alice, alice)


def by_decision(held: HeldItem, alice: Any, bob: Any) -> None:
    decision, _is_new = decisions.decide(held, bob, "approve")
    decisions.undo(decision, bob)


def by_second_look(held: HeldItem, alice: Any, bob: Any) -> None:
    response = held.response
    response.pk = None
    response.public_id, response.second_look_at, response.received_at = "resp_2", held, timezone.now()
    response.save(force_insert=True)


def by_hand(held: HeldItem, alice: Any, bob: Any) -> None:
    talk.wake(held, bob)


@table(
    ("change", "wakes"),
    [
        (by_mention, True),
        (by_assigning, True),
        (by_decision, True),
        (by_second_look, True),
        (by_hand, True),
        (by_a_word, False),
        (by_claiming, False),
    ],
    rolled_back=True,
)
def test_what_needs_somebody_ends_a_snooze(
    change: Any, wakes: bool, alice: Any, bob: Any, kuro: Any, as_person: Any, settings: Any
) -> None:
    settings.UNDO_SECONDS = 30
    held = item(kuro)
    talk.snooze(held, alice, timezone.now() + HOUR)
    change(held, alice, bob)
    assert rows(as_person(alice)) == ([held.public_id] if wakes else [])
    assert ("Snoozed by" in as_person(alice).get(f"/queue/{held.public_id}/").content.decode()) != wakes


def test_no_snooze_lasts_past_the_expiry(alice: Any, kuro: Any, as_person: Any, noon: Any) -> None:
    held = item(kuro)
    HeldItem.objects.update(expires_at=NOON + HOUR)
    client, path = as_person(alice), f"/queue/{held.public_id}/snooze"
    assert "disabled" in client.get(f"/queue/{held.public_id}/").content.decode().partition('value="tomorrow"')[2][:20]
    for fields in ({"until": "tomorrow"}, {"until": "at", "at": "2026-11-20T13:00"}):
        page = client.post(path, fields, headers={"hx-request": "true"}).content.decode()
        assert "The item expires before that time, on Nov 20, 2026 13:00: nothing was snoozed." in page
    client.post(path, {"until": "at", "at": "2026-11-20T12:59"})
    assert ItemTalk.objects.get().snoozed_until == NOON + 59 * HOUR / 60


@table(
    ("zone", "until"),
    [("Asia/Taipei", "2026-11-21T01:00:00+00:00"), ("America/New_York", "2026-11-21T14:00:00+00:00")],
    rolled_back=True,
)
def test_tomorrow_is_where_the_person_is(
    zone: str, until: str, alice: Any, kuro: Any, as_person: Any, noon: Any
) -> None:
    alice.time_zone = zone
    alice.save()
    held = item(kuro)
    HeldItem.objects.update(expires_at=NOON + 72 * HOUR)
    as_person(alice).post(f"/queue/{held.public_id}/snooze", {"until": "tomorrow"})
    assert ItemTalk.objects.get().snoozed_until.isoformat() == until


def test_the_queue_shows_what_is_mine_and_what_mentions_me(alice: Any, bob: Any, kuro: Any, as_person: Any) -> None:
    mine, mentioning, _other = item(kuro), item(kuro), item(kuro)
    talk.assign(mine, bob, alice)
    talk.comment(mentioning, alice, "@bob?")
    client = as_person(bob)
    assert rows(client, f"?assigned={bob.pk}") == [mine.public_id]
    assert rows(client, f"?mentions={bob.pk}") == [mentioning.public_id]
    page = client.get("/queue/").content.decode()
    assert ("Assigned to me&nbsp;1" in page, "Mentions me&nbsp;1" in page) == (True, True)
    assert "Assigned to me" not in as_person(alice).get("/queue/").content.decode()


def test_comments_go_with_the_text_of_their_item(alice: Any, kuro: Any, aurora: Any, as_person: Any) -> None:
    held = item(kuro)
    talk.comment(held, alice, "Ask the customer called Jane.")
    decisions.decide(held, alice, "approve")
    Team.objects.update(retention_days=1)
    past = timezone.now() - timedelta(days=2)
    AgentResponse.objects.update(received_at=past)
    HeldItem.objects.update(closed_at=past)
    retention.erase()
    assert Comment.objects.get().text == ""
    page = as_person(alice).get(f"/queue/{held.public_id}/").content.decode()
    assert "Erased at the end of the team's retention." in page


def test_an_agent_never_sees_what_is_said(alice: Any, bob: Any, kuro: Any) -> None:
    held = item(kuro)
    talk.comment(held, alice, "@bob zebra?")
    talk.assign(held, bob, alice)
    for path in (f"/held/{held.public_id}", "/held", "/context"):
        answer = kuro.get(path)
        assert answer.status_code == 200
        assert not {"zebra", "comments", "assignee"} & set(re.findall(r"\w+", answer.content.decode()))


class TestNotices:
    @pytest.fixture(autouse=True)
    def _mail_is_set_up(self, settings: Any, tmp_path: Any) -> None:
        settings.DATA_DIR = tmp_path
        settings.MAIL_FROM = "metacog <metacog@example.org>"
        settings.PUBLIC_URL = "https://metacog.example.org"

    @table(
        ("told", "mails"),
        [
            ({"when": "never", "mentions": True}, 2),
            ({"when": "never", "mentions": False}, 0),
            ("nothing chosen", 2),
            ("no address", 0),
        ],
        rolled_back=True,
    )
    def test_who_did_not_choose_otherwise_is_told_at_once_and_once(
        self, told: Any, mails: int, alice: Any, bob: Any, kuro: Any, mailoutbox: list[Any]
    ) -> None:
        if told != "no address":
            tell(bob, **(told if isinstance(told, dict) else {}))
        if told == "nothing chosen":
            PersonNotices.objects.all().delete()
        held, before = item(kuro), len(mailoutbox)
        talk.comment(held, alice, "@bob @bob, is that zebra so?")
        talk.assign(held, bob, alice)
        for _ in range(3):
            notifications.write_due()
            notifications.send_due()
        sent = mailoutbox[before:]
        assert (
            sorted(each.subject for each in sent)
            == [
                "metacog: Alice assigned an item to you: CHAT from kuro",
                "metacog: Alice mentioned you: CHAT from kuro",
            ][:mails]
        )
        assert all(f"/queue/{held.public_id}/" in each.body and "zebra" not in each.body for each in sent)

    def test_nobody_is_told_of_what_was_taken_back(
        self, alice: Any, bob: Any, carla: Any, kuro: Any, mailoutbox: Any
    ) -> None:
        tell(bob, "never")
        held = item(kuro)
        said, _unknown = talk.comment(held, alice, "@bob")
        talk.delete(said, alice)
        talk.assign(held, bob, alice)
        talk.assign(held, carla, alice)
        notifications.send_due()
        assert (mailoutbox, [notice.state for notice in Notice.objects.all()]) == ([], ["moot", "moot"])

    def test_a_failed_mail_is_tried_again_and_no_other_is_written(
        self, alice: Any, bob: Any, kuro: Any, monkeypatch: Any
    ) -> None:
        tell(bob, "never")
        talk.comment(item(kuro), alice, "@bob")
        now, sent = timezone.now(), list[Any]()
        monkeypatch.setattr(way_out, "send", lambda message: "timeout")
        notifications.send_due(now)
        monkeypatch.setattr(way_out, "send", lambda message: sent.append(message) or "")
        assert notifications.send_due(now + timedelta(seconds=59)) == 0
        assert notifications.send_due(now + timedelta(seconds=61)) == 1
        assert (len(sent), Notice.objects.get().state) == (1, "sent")

    def test_mail_holds_what_the_team_lets_out(self, alice: Any, bob: Any, kuro: Any, mailoutbox: list[Any]) -> None:
        tell(bob, "never")
        Team.objects.update(mail_texts=True, mail_links=True)
        talk.comment(item(kuro), alice, "@bob see https://x.example/zebra")
        notifications.send_due()
        assert "x.\u2060example/zebra" in mailoutbox[0].body
        assert "https://x" not in mailoutbox[0].body
        assert "/by-mail/" in mailoutbox[0].body

    def test_a_chat_is_told_if_its_team_chose_so(
        self, alice: Any, bob: Any, kuro: Any, aurora: Any, monkeypatch: Any
    ) -> None:
        posted: list[str] = []
        monkeypatch.setattr("metacog.notices.chat.post", lambda channel, text: posted.append(text) or "")
        channel = Channel.objects.create(team=aurora, url_encrypted="", hint="x", turn_at=timezone.now())
        talk.comment(item(kuro), alice, "@bob")
        Channel.objects.update(mentions=True)
        held = item(kuro)
        talk.comment(held, alice, "@bob *zebra*")
        notifications.send_due()
        assert posted == [f"Alice mentioned Bob: CHAT from kuro\nhttps://metacog.example.org/queue/{held.public_id}/"]
        assert channel.texts is False


class TestApi:
    def test_programs_comment_assign_and_snooze_as_their_person(
        self, alice: Any, bob: Any, victor: Any, kuro: Any
    ) -> None:
        held, program = item(kuro).public_id, program_of(alice)
        said = program.post(f"/review/held/{held}/comments", {"text": "@bob why?"})
        assert (said.status_code, said.json()["author"], said.json()["mentions"]) == (201, "alice", ["bob"])
        assert program.post(f"/review/held/{held}/assign", {"assignee": "bob"}).json()["assignee"] == "bob"
        until = (timezone.now() + HOUR).isoformat()
        whole = program.post(f"/review/held/{held}/snooze", {"until": until}).json()
        assert [each["text"] for each in whole["comments"]] == ["@bob why?"]
        listed = program.get("/review/queue").json()["items"][0]
        assert (listed["assignee"], listed["comments_count"], bool(listed["snoozed_until"])) == ("bob", 1, True)
        assert program.post(f"/review/held/{held}/snooze", {"until": None}).json()["snoozed_until"] is None
        wrong = [
            ("assign", {"assignee": "victor"}),
            ("comments", {"text": " "}),
            ("snooze", {"until": "2001-01-01T00:00:00Z"}),
            ("snooze", {"until": "tomorrow"}),
        ]
        for path, body in wrong:
            assert program.post(f"/review/held/{held}/{path}", body).status_code == 422, path
        for other in (program_of(victor), program_of(alice, "read")):
            assert other.post(f"/review/held/{held}/comments", {"text": "x"}).status_code == 403
