"""What comes in from a chat: only what it signed, or what bears its token; and who a chat user is."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from metacog.accounts import keys
from metacog.chats import setup
from metacog.models import AuditEvent, ChatApp, ChatUser
from reviews.models import Decision
from tests.reviews.chats.conftest import ANNA, Slack, Telegram, sweep
from tests.reviews.chats.stubs import BOT_TOKEN, SIGNING_SECRET, signed
from tests.reviews.chats.test_deciding import bash

pytestmark = pytest.mark.django_db

PRESS = {"type": "block_actions", "user": {"id": "U0ANNA", "username": "anna"}, "trigger_id": "T1", "actions": []}
NOW = 1_760_000_000


def post(team: int, kind: str, body: bytes, headers: dict[str, str]) -> int:
    return Client(headers=headers).generic("POST", f"/chats/{team}/{kind}", body).status_code


@pytest.mark.parametrize(
    ("age", "status"), [(0, 200), (300, 200), (301, 401), (-300, 200), (-301, 401)], ids=lambda each: str(each)
)
def test_slack_signs_within_five_minutes(slack: Slack, monkeypatch: Any, age: int, status: int) -> None:
    monkeypatch.setattr(time, "time", lambda: NOW)
    body, headers = signed(PRESS, at=NOW - age)
    assert post(slack.app.team_id, "slack", body, headers) == status


def test_any_defect_of_a_signature_is_the_same_refusal(slack: Slack, borealis: Any) -> None:
    body, headers = signed(PRESS)
    moment, signature = headers["X-Slack-Request-Timestamp"], headers["X-Slack-Signature"]
    defects: list[tuple[int, str, bytes, dict[str, str]]] = [
        (slack.app.team_id, "slack", body + b" ", headers),
        (slack.app.team_id, "slack", body, {}),
        (slack.app.team_id, "slack", body, headers | {"X-Slack-Request-Timestamp": "nan"}),
        (slack.app.team_id, "slack", body, headers | {"X-Slack-Request-Timestamp": f"{moment}.0"}),
        (slack.app.team_id, "slack", body, headers | {"X-Slack-Request-Timestamp": str(int(moment) + 1)}),
        (slack.app.team_id, "slack", body, headers | {"X-Slack-Signature": signature.removeprefix("v0=")}),
        (slack.app.team_id, "slack", body, headers | {"X-Slack-Signature": "v0=é" + signature[4:]}),
        (slack.app.team_id, "slack", body, headers | {"X-Slack-Signature": signature.upper()}),
        (slack.app.team_id, "slack", *signed(PRESS, secret=SIGNING_SECRET + "0")),
        (borealis.pk, "slack", body, headers),
        (slack.app.team_id, "telegram", body, headers),
        (999, "slack", body, headers),
    ]
    assert [post(*defect) for defect in defects] == [401] * len(defects)
    assert post(slack.app.team_id, "slack", body, headers) == 200
    assert post(slack.app.team_id, "teams", body, headers) == 404


def test_a_body_that_is_too_large_is_refused(slack: Slack) -> None:
    assert post(slack.app.team_id, "slack", *signed(PRESS | {"x": "y" * 2**21})) == 413


def test_tokens_and_secrets_are_encrypted_with_the_present_key(telegram: Telegram, settings: Any) -> None:
    before = ChatApp.objects.get()
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = (
        [settings.SECRET_KEY],
        "another-secret-key-of-fifty-characters-or-more-0123",
    )
    assert keys.rekey()[0] >= 2
    settings.SECRET_KEY_FALLBACKS = []
    after = ChatApp.objects.get()
    assert keys.decrypted(after.token_encrypted) == BOT_TOKEN
    assert keys.decrypted(after.secret_encrypted)
    assert keys.decrypted(before.token_encrypted) is None
    ChatApp.objects.update(token_encrypted=before.token_encrypted)
    assert [str(row) for row in keys.rekey()[1]] == ["Telegram"]


def test_telegram_bears_its_secret_token(telegram: Telegram) -> None:
    assert [telegram.post({"update_id": 1}, secret=each).status_code for each in ("", "x", "é")] == [401] * 3
    assert telegram.post({"update_id": 1}).status_code == 200


def test_the_secret_of_a_lost_key_lets_nobody_in(slack: Slack) -> None:
    ChatApp.objects.update(secret_encrypted="lost")
    assert post(slack.app.team_id, "slack", *signed(PRESS)) == 401
    assert post(slack.app.team_id, "slack", *signed(PRESS, secret="")) == 401


@pytest.mark.parametrize(
    "payload",
    [{}, {"type": "shortcut"}, {"type": "block_actions"}, PRESS, PRESS | {"actions": [{}]}, PRESS | {"user": "x"},
     PRESS | {"type": "view_submission", "view": {}}, PRESS | {"type": "view_submission", "view": []}],
)  # fmt: skip
def test_what_slack_sends_of_another_kind_is_answered(slack: Slack, payload: dict[str, Any]) -> None:
    assert slack.post(payload).json() == {}


@pytest.mark.parametrize(
    "update",
    [{"callback_query": {}}, {"callback_query": 3}, {"message": {"chat": {"id": 1, "type": "private"}}}, {"poll": {}},
     {"callback_query": {"id": "1", "from": {"id": 1}, "data": "approve|x"}}, {"message": []}],
)  # fmt: skip
def test_what_telegram_sends_of_another_kind_is_answered(telegram: Telegram, update: dict[str, Any]) -> None:
    assert telegram.post(update).json() == {}


@pytest.mark.parametrize("about", ["", ":", "held_x:1", "held_x:²", "held_x:" + "9" * 40, "x" * 2000])
def test_what_a_button_cannot_say_is_told(slack: Slack, alice: Any, about: str) -> None:
    ChatUser.objects.create(app=slack.app, external_id="U0ANNA", name="x", person=alice)
    slack.press("U0ANNA", "", {"action_id": "approve-0", "value": about})
    assert "no longer exists" in slack.told()


class TestConnecting:
    """Who presses for the first time is asked who they are, in a link that only they see."""

    def link(self, chat: Any) -> str:
        """Press as somebody unknown; return the link they get."""
        if chat.kind == "slack":
            chat.press("U0ANNA", "Approve")
            url: str = chat.stub.view()["blocks"][1]["elements"][0]["url"]
            return url
        said = chat.press("101", "Approve")
        assert said["url"] == "https://t.me/aurora_metacog_bot?start=connect"  # nothing of it stands in the group
        said = chat.write("101", "/start connect", chat=77)
        assert said["chat_id"] == 77
        return str(said["reply_markup"]["inline_keyboard"][0][0]["url"])

    @pytest.fixture(params=["slack", "telegram"])
    def fresh(self, request: pytest.FixtureRequest, kuro: Any, alice: Any) -> Any:
        chat = request.getfixturevalue(request.param)
        kuro.hold()
        sweep(chat)
        return chat

    def test_a_link_is_opened_while_signed_in_and_posted(self, fresh: Any, alice: Any, as_person: Any) -> None:
        path = self.link(fresh).removeprefix("https://metacog.example.org")
        assert not Decision.objects.exists()
        assert Client().get(path).status_code == 302  # to the sign-in
        page = as_person(alice).get(path)
        assert ANNA[fresh.kind] in page.content.decode()
        assert not ChatUser.objects.exists()  # opening changes nothing
        assert as_person(alice).post(path).status_code == 302
        user = ChatUser.objects.get()
        assert (user.external_id, user.person) == (ANNA[fresh.kind], alice)
        event = AuditEvent.objects.get(action="chat-connected")
        assert (event.actor, event.data["user"]) == ("alice", ANNA[fresh.kind])
        as_person(alice).post(path)  # once more is nothing more
        assert AuditEvent.objects.filter(action="chat-connected").count() == 1
        fresh.press(ANNA[fresh.kind], "Approve")
        assert Decision.objects.get().person == alice

    def test_it_is_one_person_and_one_user(self, fresh: Any, alice: Any, bob: Any, as_person: Any) -> None:
        path = self.link(fresh).removeprefix("https://metacog.example.org")
        as_person(alice).post(path)
        assert as_person(bob).post(path).status_code == 409
        another = setup.connect_link(fresh.app, "U9", "other").removeprefix("https://metacog.example.org")
        assert as_person(alice).post(another).status_code == 409
        assert ChatUser.objects.get().person == alice

    def test_a_stranger_and_a_link_that_is_over_find_nothing(
        self, fresh: Any, alice: Any, mallory: Any, as_person: Any, monkeypatch: Any
    ) -> None:
        path = self.link(fresh).removeprefix("https://metacog.example.org")
        assert as_person(mallory).post(path).status_code == 404
        assert as_person(alice).get(path + "x").status_code == 404
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + setup.LINK_SECONDS + 1)
        client = as_person(alice)
        assert client.post(path).status_code == 404
        assert not ChatUser.objects.exists()

    @pytest.mark.parametrize("who", ["alice", "olga"])
    def test_the_person_or_an_owner_takes_it_back(
        self, fresh: Any, alice: Any, olga: Any, as_person: Any, who: str
    ) -> None:
        user = ChatUser.objects.create(app=fresh.app, external_id=ANNA[fresh.kind], name="x", person=alice)
        if who == "alice":
            assert "Disconnect" in as_person(alice).get("/preferences/").content.decode()
            url = reverse("chat-disconnect", args=[user.pk])
            assert as_person(olga).post(url).status_code == 404
        else:
            url = reverse("chat-user-disconnect", args=[fresh.app.team_id, fresh.kind, user.pk])
            assert as_person(alice).post(url).status_code == 403
        assert as_person(locals()[who]).post(url).status_code == 302
        event = AuditEvent.objects.get(action="chat-disconnected")
        assert (event.actor, event.data["person"]) == (who, "alice")
        self.link(fresh)  # who presses now is nobody again
        assert not Decision.objects.exists()

    def test_telegram_gives_no_link_to_a_group_either_where_somebody_writes(
        self, telegram: Telegram, kuro: Any, alice: Any
    ) -> None:
        ChatUser.objects.create(app=telegram.app, external_id="101", name="x", person=alice)
        kuro.hold()
        sweep(telegram)
        telegram.press("101", "Reject…")
        said = telegram.write("666", "No.", max(telegram.stub.messages))  # whoever opened it would let them decide
        [[button]] = said["reply_markup"]["inline_keyboard"]
        assert button["url"] == "https://t.me/aurora_metacog_bot?start=connect"
        assert not Decision.objects.exists()

    def test_telegram_says_who_somebody_is(self, telegram: Telegram, alice: Any) -> None:
        ChatUser.objects.create(app=telegram.app, external_id="101", name="x", person=alice)
        telegram.write("101", "/start", chat=77)
        assert telegram.told() == "You are connected to metacog as alice."


class TestSettings:
    """An owner sets a chat up on a page; its token and secret are seen no more."""

    def entered(self, stub: Any, kind: str, **changes: str) -> dict[str, str]:
        from tests.reviews.chats import stubs

        values = {
            "slack": {"token": stubs.SLACK_TOKEN, "secret": stubs.SIGNING_SECRET, "place": stubs.CHANNEL},
            "telegram": {"token": stubs.BOT_TOKEN, "place": str(stubs.GROUP)},
        }[kind] | {"language": "en", "texts": "on"}
        return {f"chat-{name}": value for name, value in (values | changes).items()}

    @pytest.mark.parametrize("kind", ["slack", "telegram"])
    def test_it_is_set_up_tested_and_removed(
        self, kind: str, request: pytest.FixtureRequest, aurora: Any, olga: Any, as_person: Any
    ) -> None:
        chat = request.getfixturevalue(kind)
        ChatApp.objects.all().delete()
        url, client = reverse("chat", args=[aurora.pk, kind]), as_person(olga)
        assert client.get(url).status_code == 200
        values = self.entered(chat.stub, kind)
        assert client.post(url, values).status_code == 302
        app = ChatApp.objects.get()
        assert values["chat-token"] not in app.token_encrypted
        page = client.get(url).content.decode()
        assert {"slack": "Aurora Inc · metacog", "telegram": "@aurora_metacog_bot"}[kind] in page
        assert not any(values[name] in page for name in ("chat-token", "chat-secret") if name in values)
        if kind == "telegram":
            asked = chat.stub.webhook
            assert asked["url"] == f"https://metacog.example.org/chats/{aurora.pk}/telegram"
            assert asked["secret_token"] == keys.decrypted(app.secret_encrypted)
        assert client.post(reverse("chat-test", args=[aurora.pk, kind])).status_code == 302
        assert "This is a test" in str(chat.stub.message)
        assert client.post(url, values | {"chat-token": "", "chat-secret": ""}).status_code == 302
        assert keys.decrypted(ChatApp.objects.get().token_encrypted) == values["chat-token"]
        assert client.post(reverse("chat-remove", args=[aurora.pk, kind])).status_code == 302
        assert not ChatApp.objects.exists()
        told = [
            (each.action, each.data.get("fields")) for each in AuditEvent.objects.filter(actor="olga").order_by("pk")
        ]
        assert [action for action, _ in told][-2:] == ["chat-changed", "chat-removed"]
        assert not any(values["chat-token"] in str(each.data) for each in AuditEvent.objects.all())

    @pytest.mark.parametrize("kind", ["slack", "telegram"])
    def test_texts_that_are_switched_off_leave_what_was_posted(
        self, kind: str, request: pytest.FixtureRequest, kuro: Any, olga: Any, as_person: Any
    ) -> None:
        chat = request.getfixturevalue(kind)
        bash(kuro)
        sweep(chat)
        assert "rm -rf" in chat.shown()
        values = self.entered(chat.stub, kind, token="", secret="") | {"chat-texts": ""}
        as_person(olga).post(reverse("chat", args=[chat.app.team_id, kind]), values)
        sweep(chat)
        assert "rm -rf" not in chat.shown()
        assert "Approve" not in chat.buttons()

    @pytest.mark.parametrize(
        ("kind", "wrong", "told"),
        [
            ("slack", {"token": "xoxb-0000000000-wrong"}, "does not accept the token"),
            ("slack", {"place": "C0000000000"}, "channel was not found"),
            ("telegram", {"token": "123456:" + "x" * 35}, "does not accept the token"),
            ("telegram", {"place": "-5"}, "channel was not found"),
        ],
    )
    def test_the_test_says_what_is_wrong(
        self, kind: str, wrong: dict[str, str], told: str, request: pytest.FixtureRequest, olga: Any, as_person: Any
    ) -> None:
        chat = request.getfixturevalue(kind)
        client, where = as_person(olga), [chat.app.team_id, kind]
        client.post(reverse("chat", args=where), self.entered(chat.stub, kind, **wrong))
        client.post(reverse("chat-test", args=where))
        assert told in client.get(reverse("chat", args=where)).content.decode()

    @pytest.mark.parametrize(
        "wrong",
        [{"token": "secret"}, {"token": "xoxb-1234567890-a/../../x"}, {"secret": "short"}, {"place": "#a b"},
         {"place": ""}, {"language": "de"}],
    )  # fmt: skip
    def test_what_cannot_be_is_given_back(self, slack: Slack, olga: Any, as_person: Any, wrong: dict[str, str]) -> None:
        url = reverse("chat", args=[slack.app.team_id, "slack"])
        assert as_person(olga).post(url, self.entered(slack.stub, "slack", **wrong)).status_code == 422

    @pytest.mark.parametrize(("who", "status"), [("alice", 403), ("mallory", 404)])
    def test_it_is_its_owners(
        self, slack: Slack, who: str, status: int, request: pytest.FixtureRequest, as_person: Any
    ) -> None:
        client, where = as_person(request.getfixturevalue(who)), [slack.app.team_id, "slack"]
        names = ("chat", "chat-test", "chat-remove")
        assert [client.post(reverse(name, args=where)).status_code for name in names] == [status] * 3
        assert ChatApp.objects.exists()

    def test_the_manifest_is_the_one_that_the_page_has_slack_read(self, aurora: Any, olga: Any, as_person: Any) -> None:
        import json
        from pathlib import Path
        from urllib.parse import parse_qs, urlsplit

        import yaml

        page = as_person(olga).get(reverse("chat", args=[aurora.pk, "slack"])).content.decode()
        (link,) = re.findall(r'href="(https://api\.slack\.com/apps\?[^"]+)"', page)
        read = json.loads(parse_qs(urlsplit(link.replace("&amp;", "&")).query)["manifest_json"][0])
        url = f"https://metacog.example.org/chats/{aurora.pk}/slack"
        assert read["settings"]["interactivity"]["request_url"] == url
        kept = yaml.safe_load((Path(__file__).parents[3] / "deploy" / "slack-app.yaml").read_text())
        assert json.dumps(read) == json.dumps(kept).replace("https://metacog.example.org/chats/1/slack", url)
