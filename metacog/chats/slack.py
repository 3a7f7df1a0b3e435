"""Slack: an app with a bot's token, Block Kit, and interactions that Slack signs (v0).

slack-sdk is imported where something is sent, and nowhere else: who has no Slack does not carry it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

from django.conf import settings
from django.utils.translation import gettext

from metacog.chats import calls
from metacog.chats.shapes import Button, Card, Done, Field, Form, Passage, Press, Refused, Reply, Told, Wrong, cut
from metacog.models import ChatApp

Trouble = ChatApp.Trouble

API = "https://slack.com/api"
TOLERANCE_SECONDS = 300
_TIMESTAMP = re.compile(r"[0-9]{10}", re.ASCII)
# https://docs.slack.dev/reference/block-kit/blocks, in characters.
TEXT, HEADER, LABEL, BUTTON, OPTION, TITLE = 3000, 150, 2000, 75, 75, 24
PASSAGE = TEXT // 2  # of a block: one of ours may be two of Slack's, which counts in UTF-16
MOST_FIELDS, MOST_OPTIONS, MOST_NAME = 90, 100, 255
_LOOKS = {"good": "primary", "bad": "danger"}
_TROUBLES = {
    **dict.fromkeys(
        ("invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "missing_scope"),
        Trouble.TOKEN,
    ),
    **dict.fromkeys(("channel_not_found", "not_in_channel", "is_archived"), Trouble.PLACE),
    **dict.fromkeys(("message_not_found", "cant_update_message", "edit_window_closed"), Trouble.GONE),
    **dict.fromkeys(("ratelimited", "rate_limited"), Trouble.LIMIT),
    **dict.fromkeys(("internal_error", "fatal_error", "service_unavailable", "request_timeout"), Trouble.AWAY),
}

Block = dict[str, Any]


class Slack:
    """See `metacog.chats.shapes.Chat`."""

    room = 12_000
    secret_is_given = True

    def introduce(self, app: ChatApp, incoming_url: str) -> str:
        known = _call(app, "auth_test")
        return f"{known.get('team', '')} · {known.get('user', '')}"[:200]

    def send(self, app: ChatApp, card: Card) -> str:
        posted = _call(app, "chat_postMessage", channel=app.place, **_message(card))
        return f"{posted['channel']}:{posted['ts']}"

    def update(self, app: ChatApp, message: str, card: Card) -> None:
        channel, _colon, moment = message.partition(":")
        _call(app, "chat_update", channel=channel, ts=moment, **_message(card))

    def leave(self, app: ChatApp) -> None:
        """Slack goes on to know our address; what it sends is refused."""

    def is_authentic(self, secret: str, headers: Mapping[str, str], body: bytes, now: float) -> bool:
        moment, given = headers.get("X-Slack-Request-Timestamp", ""), headers.get("X-Slack-Signature", "")
        content = b"v0:%b:%b" % (moment.encode(errors="replace"), body)
        expected = b"v0=" + hmac.new(secret.encode(), content, hashlib.sha256).hexdigest().encode()
        is_same = hmac.compare_digest(expected, given.encode(errors="replace"))
        return is_same and bool(_TIMESTAMP.fullmatch(moment)) and abs(now - int(moment)) <= TOLERANCE_SECONDS

    def press(self, body: bytes) -> Press | None:
        try:
            payload = json.loads(parse_qs(body.decode())["payload"][0])
            user = payload["user"]
            who: Any = {"user": str(user["id"]), "name": str(user.get("username") or user.get("name") or user["id"])}
            if payload["type"] == "block_actions":
                pressed = payload["actions"][0]
                action = str(pressed["action_id"]).partition("-")[0]
                if not action:  # a link, which Slack tells of as well
                    return None
                return Press(**who, action=action, about=str(pressed.get("value", "")),
                             back={"trigger": str(payload.get("trigger_id", ""))})  # fmt: skip
            if payload["type"] == "view_submission":
                view = payload["view"]
                about, filled = str(view["private_metadata"]), _filled(view["state"]["values"])
                return Press(**who, action=str(view["callback_id"]), about=about, filled=filled)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            return None
        return None

    def reply(self, app: ChatApp, press: Press, reply: Reply) -> Mapping[str, Any]:
        is_form = press.filled is not None
        match reply:
            case Done():
                return {"response_action": "clear"} if is_form else {}
            case Wrong(errors):
                return {"response_action": "errors", "errors": {f"f{name}": why for name, why in errors.items()}}
            case Form() if not _fits(reply):
                return self.reply(app, press, reply.otherwise)
            case Form():
                view = _form(reply)
            case Told():
                view = _sentence(reply)
        if is_form:
            return {"response_action": "update", "view": view}
        _call(app, "views_open", calls.SOON_SECONDS, trigger_id=press.back["trigger"], view=view)
        return {}


def manifest(incoming_url: str) -> dict[str, Any]:
    """Return what Slack makes an app of, as deploy/slack-app.yaml has it."""
    return {
        "display_information": {
            "name": "metacog",
            "description": "Decide what agents may say and do",
            "background_color": "#1d4d4f",
        },
        "features": {"bot_user": {"display_name": "metacog", "always_online": True}},
        "oauth_config": {"scopes": {"bot": ["chat:write", "chat:write.public"]}},
        "settings": {
            "interactivity": {"is_enabled": True, "request_url": incoming_url},
            "org_deploy_enabled": False,
            "socket_mode_enabled": False,
            "token_rotation_enabled": False,
        },
    }


def _call(app: ChatApp, method: str, seconds: int = calls.SECONDS, **given: Any) -> dict[str, Any]:
    """Call a method of the Web API. Raises Refused."""
    from slack_sdk.errors import SlackApiError

    from metacog.chats.slack_client import Client

    client = Client(token=calls.token_of(app), base_url=f"{settings.SLACK_URL or API}/", timeout=seconds)
    try:
        answer = getattr(client, method)(**given)
    except SlackApiError as error:
        raise Refused(_TROUBLES.get(error.response.get("error", ""), Trouble.REFUSED)) from None
    known: dict[str, Any] = answer.data
    return known


# -- what goes out ---------------------------------------------------------------------------------------


def _message(card: Card) -> dict[str, Any]:
    blocks: list[Block] = [{"type": "header", "text": _plain(card.title, HEADER)}]
    blocks += [_section(line) for line in card.lines]
    for passage in card.passages:
        blocks += _passage(passage)
    blocks += [{"type": "context", "elements": [_plain(line, TEXT)]} for line in card.foot]
    if card.buttons:
        buttons = [_button(each, at) for at, each in enumerate(card.buttons)]
        blocks.append({"type": "actions", "elements": buttons})
    # What notifications and screen readers have; of "parse" and link_names nothing: nobody is called.
    text = cut("\n".join([card.title, *card.lines]), TEXT)
    return {"text": text, "blocks": blocks, "unfurl_links": False, "unfurl_media": False}


def _plain(text: str, most: int) -> Block:
    return {"type": "plain_text", "text": cut(text, most), "emoji": False}


def _section(text: str) -> Block:
    return {"type": "section", "text": _plain(text, TEXT)}


def _passage(passage: Passage) -> Iterator[Block]:
    if passage.label:
        yield {"type": "context", "elements": [_plain(passage.label, TEXT)]}
    for start in range(0, len(passage.text), PASSAGE):
        text = {"type": "text", "text": passage.text[start : start + PASSAGE]}
        yield {"type": "rich_text", "elements": [{"type": "rich_text_preformatted", "elements": [text]}]}


def _button(button: Button, at: int) -> Block:
    made: Block = {"type": "button", "text": _plain(button.label, BUTTON), "action_id": f"{button.action}-{at}"}
    if button.look:
        made["style"] = _LOOKS[button.look]
    return made | ({"url": button.url} if button.url else {"value": button.about})


# -- forms -----------------------------------------------------------------------------------------------


def _fits(form: Form) -> bool:
    """Tell whether Slack can show a form: how many fields, and how long their names are, has its bounds."""
    few = 0 < len(form.fields) <= MOST_FIELDS and len(form.action) <= MOST_NAME
    return few and all(len(each.name) < MOST_NAME and len(each.options) <= MOST_OPTIONS for each in form.fields)


def _form(form: Form) -> Block:
    return {
        "type": "modal",
        "callback_id": form.action,
        "private_metadata": form.about,
        "title": _plain(form.title, TITLE),
        "submit": _plain(form.submit, TITLE),
        "close": _plain(gettext("Cancel"), TITLE),
        "blocks": [_input(each) for each in form.fields],
    }


def _sentence(told: Told) -> Block:
    blocks: list[Block] = [_section(told.text)]
    if told.link:
        blocks.append({"type": "actions", "elements": [_button(Button(told.label, url=told.link, look="good"), 0)]})
    return {
        "type": "modal", "title": _plain("metacog", TITLE), "close": _plain(gettext("Close"), TITLE), "blocks": blocks,
    }  # fmt: skip


_INPUTS: Mapping[str, Block] = {
    "line": {"type": "plain_text_input"},
    "text": {"type": "plain_text_input", "multiline": True},
    "number": {"type": "number_input", "is_decimal_allowed": True},
    "date": {"type": "datepicker"},
    "email": {"type": "email_text_input"},
    "url": {"type": "url_text_input"},
    "choice": {"type": "static_select"},
    "choices": {"type": "multi_static_select"},
}


def _input(field: Field) -> Block:
    element: Block = {**_INPUTS[field.kind], "action_id": "in"}
    if field.options:
        options = [{"text": _plain(each.label, OPTION), "value": each.value} for each in field.options]
        element["options"] = options
        chosen = [each for each in options if each["value"] == field.value]
        if chosen:
            element |= {"initial_option": chosen[0]} if field.kind == "choice" else {"initial_options": chosen}
    elif field.value and len(field.value) <= TEXT:
        element["initial_date" if field.kind == "date" else "initial_value"] = field.value
    block: Block = {
        "type": "input",
        "block_id": f"f{field.name}",
        "label": _plain(field.label or " ", LABEL),
        "optional": not field.is_required,
        "element": element,
    }
    return block | ({"hint": _plain(field.hint, LABEL)} if field.hint else {})


def _filled(values: Mapping[str, Mapping[str, Any]]) -> dict[str, Sequence[str]]:
    """Return what a modal holds, by field."""
    found: dict[str, Sequence[str]] = {}
    for block, elements in values.items():
        one = elements["in"]
        if one["type"] == "static_select":
            chosen = [one["selected_option"]] if one.get("selected_option") else []
            found[block[1:]] = [str(each["value"]) for each in chosen]
        elif one["type"] == "multi_static_select":
            found[block[1:]] = [str(each["value"]) for each in one.get("selected_options") or []]
        else:
            value = one.get("selected_date") if one["type"] == "datepicker" else one.get("value")
            found[block[1:]] = [] if value is None else [str(value)]
    return found
