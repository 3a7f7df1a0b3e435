"""A team that decides in chats, and what its people press there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from metacog.accounts import keys
from metacog.chats import setup
from metacog.models import ChatApp, ChatUser
from reviews.chats import cards
from tests.reviews.chats.stubs import (
    BOT_TOKEN,
    CHANNEL,
    GROUP,
    SIGNING_SECRET,
    SLACK_TOKEN,
    Json,
    SlackStub,
    TelegramStub,
    listening,
    signed,
)


@pytest.fixture(autouse=True)
def _place(settings: Any, tmp_path: Any) -> None:
    settings.DATA_DIR = tmp_path  # in one folder only one sweep has its turn at a time
    settings.PUBLIC_URL = "https://metacog.example.org"


class Slack:
    """The app of a team in Slack, and its users."""

    kind = "slack"

    def __init__(self, stub: SlackStub, app: ChatApp) -> None:
        self.stub, self.app = stub, app

    def post(self, payload: Json, **how: Any) -> Any:
        body, headers = signed(payload, **how)
        return Client(headers=headers).generic(
            "POST", f"/chats/{self.app.team_id}/slack", body, CONTENT_TYPE="application/x-www-form-urlencoded"
        )

    def buttons(self) -> dict[str, Json]:
        """The buttons of the one message, by their labels."""
        actions = [block["elements"] for block in self.stub.message["blocks"] if block["type"] == "actions"]
        return {each["text"]["text"]: each for elements in actions for each in elements}

    def press(self, user: str, label: str, button: Json | None = None) -> Any:
        self.stub.triggers.add("T1")
        pressed = button or self.buttons()[label]
        who = {"id": user, "username": user.lower(), "team_id": "T0"}
        payload = {"type": "block_actions", "user": who, "trigger_id": "T1", "actions": [pressed]}
        answer = self.post(payload)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def submit(self, user: str, view: Json, **filled: Any) -> Any:
        """Fill in a view's inputs, by the names of their fields, and send it."""
        values = {}
        for block in view["blocks"]:
            element, value = block["element"], filled.get(block["block_id"][1:])
            state: Json = {"type": element["type"]}
            if element["type"] == "static_select":
                state["selected_option"] = {"value": value} if value else None
            elif element["type"] == "multi_static_select":
                state["selected_options"] = [{"value": each} for each in value or []]
            else:
                state["selected_date" if element["type"] == "datepicker" else "value"] = value
            values[block["block_id"]] = {element["action_id"]: state}
        view = {**view, "state": {"values": values}}
        answer = self.post({"type": "view_submission", "user": {"id": user, "username": "x"}, "view": view})
        assert answer.status_code == 200, answer.content
        return answer.json()

    def reject(self, user: str, reason: str) -> Any:
        self.press(user, "Reject…")
        return self.submit(user, self.stub.view(), reason=reason)

    def told(self) -> str:
        """What the last view says that was opened for whoever pressed."""
        text: str = self.stub.view()["blocks"][0]["text"]["text"]
        return text

    def shown(self) -> str:
        """All that the one message says."""
        return json.dumps(self.stub.message["blocks"], ensure_ascii=False)


class Telegram:
    """The bot of a team in a group of Telegram, and its members."""

    kind = "telegram"

    def __init__(self, stub: TelegramStub, app: ChatApp) -> None:
        self.stub, self.app = stub, app
        self.said: Json = {}  # the last answer to an update

    def post(self, update: Json, secret: str | None = None) -> Any:
        token = keys.decrypted(self.app.secret_encrypted) if secret is None else secret
        client = Client(headers={"X-Telegram-Bot-Api-Secret-Token": token})
        return client.generic(
            "POST", f"/chats/{self.app.team_id}/telegram", json.dumps(update), CONTENT_TYPE="application/json"
        )

    def update(self, **what: Any) -> Json:
        answer = self.post({"update_id": 1, **what})
        assert answer.status_code == 200, answer.content
        self.said = answer.json()
        if method := self.said.get("method"):  # Telegram does what the answer asks for
            self.stub.called(method, {name: value for name, value in self.said.items() if name != "method"})
        return self.said

    def buttons(self, number: int = 1) -> dict[str, Json]:
        rows = self.stub.messages[number]["reply_markup"]["inline_keyboard"]
        return {each["text"].lstrip("✅❌ "): each for row in rows for each in row}

    def press(self, user: str, label: str, button: Json | None = None, number: int = 1) -> Json:
        pressed = button or self.buttons(number)[label]
        message = {**self.stub.messages[number], "chat": {"id": GROUP, "type": "supergroup"}}
        return self.update(
            callback_query={"id": "Q1", "from": member(user), "data": pressed["callback_data"], "message": message}
        )

    def write(self, user: str, text: str, reply_to: int | None = None, *, chat: int = GROUP) -> Json:
        place = {"id": chat, "type": "supergroup" if chat == GROUP else "private"}
        message: Json = {"message_id": 99, "from": member(user), "chat": place, "text": text}
        if reply_to:
            message["reply_to_message"] = {**self.stub.messages[reply_to], "from": {"id": 123456, "is_bot": True}}
        return self.update(message=message)

    def reject(self, user: str, reason: str) -> Any:
        self.press(user, "Reject…")
        return self.write(user, reason, max(self.stub.messages))

    def told(self) -> str:
        text: str = self.said["text"]
        return text

    def shown(self) -> str:
        text: str = self.stub.messages[1]["text"]
        return text


def member(user: str) -> Json:
    return {"id": int(user), "first_name": "Somebody", "username": "somebody"}


ANNA, BEN = {"slack": "U0ANNA", "telegram": "101"}, {"slack": "U0BEN", "telegram": "102"}


@pytest.fixture
def slack(settings: Any, aurora: Any, olga: Any) -> Iterator[Slack]:
    with listening(SlackStub()) as stub:
        settings.SLACK_URL = f"{stub.url}/api"
        app, _ = setup.save(aurora, "slack", olga, setup.Entered(SLACK_TOKEN, SIGNING_SECRET, CHANNEL, "en", True))
        assert isinstance(stub, SlackStub)
        yield Slack(stub, app)


@pytest.fixture
def telegram(settings: Any, aurora: Any, olga: Any) -> Iterator[Telegram]:
    with listening(TelegramStub()) as stub:
        settings.TELEGRAM_URL = stub.url
        app, _ = setup.save(aurora, "telegram", olga, setup.Entered(BOT_TOKEN, "", str(GROUP), "en", True))
        setup.works(app, name="@aurora_metacog_bot")
        assert isinstance(stub, TelegramStub)
        yield Telegram(stub, ChatApp.objects.select_related("team").get())


@pytest.fixture(params=["slack", "telegram"])
def chat(request: pytest.FixtureRequest, alice: Any, bob: Any) -> Any:
    """Either chat, in which alice and bob are connected."""
    found = request.getfixturevalue(request.param)
    for user, person in ((ANNA, alice), (BEN, bob)):
        ChatUser.objects.create(app=found.app, external_id=user[found.kind], name="x", person=person)
    return found


def sweep(chat: Any) -> None:
    """Do what the worker does, and see that the chat took all of it."""
    cards.sweep()
    assert chat.stub.refused == []
