"""Stand-ins for Slack and Telegram on 127.0.0.1, which refuse what the real ones refuse."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlencode

SLACK_TOKEN, SIGNING_SECRET, CHANNEL = "xoxb-1234567890-abcdef", "8f742231b10e8888abcd99yyyzzz85a5", "C0123456789"
BOT_TOKEN, GROUP = "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11", -1001234567890

Json = dict[str, Any]
Answer = tuple[int, Json, dict[str, str]]


@dataclass
class Stub:
    """What the two have in common: `answers` are given, one by one, before what it would say."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    calls: list[tuple[str, Json]] = field(default_factory=list)
    messages: dict[Any, Json] = field(default_factory=dict)  # as they stand by now
    refused: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    under_way: int = 0
    most_at_once: int = 0

    def answer(self, path: str, headers: Any, body: Json) -> Answer:
        raise NotImplementedError

    def made(self, method: str) -> list[Json]:
        return [body for name, body in self.calls if name == method]

    @property
    def message(self) -> Json:
        """The one message there is."""
        (only,) = self.messages.values()
        return only


# -- Slack -----------------------------------------------------------------------------------------------


class SlackStub(Stub):
    """https://slack.com/api: the token, the channel, and the bounds of Block Kit."""

    triggers: set[str] = set()  # that may open a view, once

    def answer(self, path: str, headers: Any, body: Json) -> Answer:
        method = path.removeprefix("/api/")
        if headers.get("Authorization") != f"Bearer {SLACK_TOKEN}":
            return 200, {"ok": False, "error": "invalid_auth"}, {}
        if not headers.get("Content-Type", "").startswith("application/json"):
            return 200, {"ok": False, "error": "invalid_form_data"}, {}
        try:
            return 200, {"ok": True, **self._called(method, body)}, {}
        except Wrong as wrong:
            self.refused.append(f"{method}: {wrong}")
            return 200, {"ok": False, "error": str(wrong).partition(":")[0]}, {}

    def _called(self, method: str, body: Json) -> Json:
        if method == "auth.test":
            return {"team": "Aurora Inc", "user": "metacog", "bot_id": "B1"}
        if method == "views.open":
            if body["trigger_id"] not in self.triggers:
                raise Wrong("expired_trigger_id")
            self.triggers.discard(body["trigger_id"])
            check_view(body["view"])
            return {"view": {"id": "V1"}}
        check_blocks(body["blocks"], 50)
        check(0 < len(body["text"]) <= 40_000, "msg_too_long")
        if body["channel"] != CHANNEL:
            raise Wrong("channel_not_found")
        if method == "chat.postMessage":
            moment = f"1760000000.{len(self.messages):06}"
        else:
            moment = body["ts"]
            check(moment in self.messages, "message_not_found")
        self.messages[moment] = body
        return {"channel": CHANNEL, "ts": moment}

    def view(self) -> Json:
        """The last view that was opened."""
        view: Json = self.made("views.open")[-1]["view"]
        return view


class Wrong(Exception):
    pass


def check(holds: bool, error: str) -> None:
    if not holds:
        raise Wrong(error)


def check_text(text: Json, most: int, kinds: tuple[str, ...] = ("plain_text",)) -> None:
    check(text["type"] in kinds and 0 < units(text["text"]) <= most, f"invalid_blocks: text {most}: {text}")


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def check_blocks(blocks: list[Json], most: int) -> None:
    check(0 < len(blocks) <= most, f"invalid_blocks: {len(blocks)} blocks")
    names = [block["block_id"] for block in blocks if "block_id" in block]
    check(len(names) == len(set(names)) and all(0 < len(name) <= 255 for name in names), "invalid_blocks: block_id")
    for block in blocks:
        CHECKS[block["type"]](block)


def _header(block: Json) -> None:
    check_text(block["text"], 150)


def _section(block: Json) -> None:
    check_text(block["text"], 3000, ("plain_text", "mrkdwn"))


def _context(block: Json) -> None:
    check(0 < len(block["elements"]) <= 10, "invalid_blocks: context")
    for each in block["elements"]:
        check_text(each, 3000, ("plain_text", "mrkdwn"))


def _rich_text(block: Json) -> None:
    for part in block["elements"]:
        check(part["type"] == "rich_text_preformatted", "invalid_blocks: rich_text")
        for each in part["elements"]:
            check(each["type"] == "text" and 0 < units(each["text"]) <= 3000, "invalid_blocks: rich text")


def _actions(block: Json) -> None:
    check(0 < len(block["elements"]) <= 25, "invalid_blocks: actions")
    names = [each["action_id"] for each in block["elements"]]
    check(len(names) == len(set(names)), "invalid_blocks: action_id twice")
    for each in block["elements"]:
        check_text(each["text"], 75)
        check(each["type"] == "button" and 0 < len(each["action_id"]) <= 255, "invalid_blocks: action_id")
        check(len(each.get("value", "")) <= 2000 and len(each.get("url", "")) <= 3000, "invalid_blocks: value")
        check(each.get("style", "primary") in ("primary", "danger"), "invalid_blocks: style")


INPUTS = {
    "plain_text_input", "number_input", "datepicker", "email_text_input", "url_text_input", "static_select",
    "multi_static_select",
}  # fmt: skip


def _input(block: Json) -> None:
    check_text(block["label"], 2000)
    if "hint" in block:
        check_text(block["hint"], 2000)
    element = block["element"]
    check(element["type"] in INPUTS and 0 < len(element["action_id"]) <= 255, "invalid_blocks: element")
    check(element["type"] != "number_input" or isinstance(element.get("is_decimal_allowed"), bool), "invalid_blocks: n")
    if "select" in element["type"]:
        check(0 < len(element["options"]) <= 100, "invalid_blocks: options")
        for option in element["options"]:
            check_text(option["text"], 75)
            check(0 < len(option["value"]) <= 150, "invalid_blocks: option")


CHECKS = {
    "header": _header, "section": _section, "context": _context, "rich_text": _rich_text, "actions": _actions,
    "input": _input,
}  # fmt: skip


def check_view(view: Json) -> None:
    check(view["type"] == "modal", "invalid_arguments")
    for name in ("title", "submit", "close"):
        if name in view:
            check_text(view[name], 24)
    has_input = any(block["type"] == "input" for block in view["blocks"])
    check(not has_input or "submit" in view, "invalid_arguments: submit")
    check(
        len(view.get("callback_id", "")) <= 255 and len(view.get("private_metadata", "")) <= 3000, "invalid_arguments"
    )
    check_blocks(view["blocks"], 100)


def signed(payload: Json, *, secret: str = SIGNING_SECRET, at: float | None = None) -> tuple[bytes, dict[str, str]]:
    """Return the body and headers with which Slack sends an interaction."""
    body = urlencode({"payload": json.dumps(payload)}).encode()
    moment = f"{time.time() if at is None else at:.0f}"
    signature = hmac.new(secret.encode(), b"v0:%b:%b" % (moment.encode(), body), hashlib.sha256).hexdigest()
    return body, {"X-Slack-Request-Timestamp": moment, "X-Slack-Signature": f"v0={signature}"}


# -- Telegram --------------------------------------------------------------------------------------------


class TelegramStub(Stub):
    """https://api.telegram.org: the token in the path, the chat, and the bounds of messages and buttons."""

    webhook: Json = {}

    def answer(self, path: str, headers: Any, body: Json) -> Answer:
        token, _slash, method = path.removeprefix("/bot").partition("/")
        if token != BOT_TOKEN:
            return 401, {"ok": False, "error_code": 401, "description": "Unauthorized"}, {}
        try:
            return 200, {"ok": True, "result": self.called(method, body)}, {}
        except Wrong as wrong:
            self.refused.append(f"{method}: {wrong}")
            return 400, {"ok": False, "error_code": 400, "description": f"Bad Request: {wrong}"}, {}

    def called(self, method: str, body: Json) -> Any:
        """Do what a call, or the answer to an update, asks for."""
        match method:
            case "getMe":
                return {"id": 123456, "is_bot": True, "username": "aurora_metacog_bot"}
            case "setWebhook":
                check(body["url"].startswith("https://"), "bad webhook: An HTTPS URL must be provided for webhook")
                check(bool(re.fullmatch(r"[A-Za-z0-9_-]{1,256}", body["secret_token"])), "secret token")
                self.webhook = body
                return True
            case "deleteWebhook":
                self.webhook = {}
                return True
            case "answerCallbackQuery":
                check(units(body.get("text", "")) <= 200, "MESSAGE_TOO_LONG")
                check(body.get("url", "https://t.me/").startswith("https://t.me/"), "URL_INVALID")
                return True
        check(str(body["chat_id"]) in (str(GROUP), "77"), "chat not found")
        check_message(body)
        if method == "sendMessage":
            number = 1 + len(self.messages)
        else:
            number = body["message_id"]
            check(number in self.messages, "message to edit not found")
            check(self.messages[number] != body | {"message_id": number}, "message is not modified: …")
        self.messages[number] = body | {"message_id": number}
        return {"message_id": number, "chat": {"id": int(body["chat_id"])}}


def check_message(body: Json) -> None:
    check(units(body["text"].strip()) > 0 and units(body["text"]) <= 4096, "message is too long")
    for entity in body.get("entities", ()):
        check(entity["length"] > 0 and entity["offset"] + entity["length"] <= units(body["text"]), "entity")
    for row in body.get("reply_markup", {}).get("inline_keyboard", ()):
        for button in row:
            check(bool(button["text"]), "BUTTON_INVALID")
            check(("url" in button) != ("callback_data" in button), "BUTTON_TYPE_INVALID")
            check(1 <= len(button.get("callback_data", "x").encode()) <= 64, "BUTTON_DATA_INVALID")
            check("localhost" not in button.get("url", "") and "127.0.0.1" not in button.get("url", ""), "BUTTON_URL")


# -- the servers -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def listening(stub: Stub) -> Iterator[Stub]:
    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            stub.under_way += 1
            stub.most_at_once = max(stub.most_at_once, stub.under_way)
            with stub.lock:
                stub.calls.append((re.sub(r"\A/(api/|bot[^/]+/)", "", self.path), body))
                queued = stub.answers.pop(0) if stub.answers else None
                status, data, headers = queued or stub.answer(self.path, self.headers, body)
            content = json.dumps(data).encode()
            stub.under_way -= 1
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    stub.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
