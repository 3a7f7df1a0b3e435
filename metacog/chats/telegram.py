"""Telegram: a bot, updates with a secret token in a header, inline keyboards, and replies in place of forms."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext

from metacog.accounts import keys
from metacog.chats import calls
from metacog.chats.shapes import (
    MOST_ACTION,
    Button,
    Card,
    Done,
    Field,
    Form,
    Press,
    Refused,
    Reply,
    Told,
    Wrong,
    cut,
    length,
)
from metacog.models import ChatApp

Trouble = ChatApp.Trouble

API = "https://api.telegram.org"
UPDATES = ["callback_query", "message"]
MOST_TEXT, MOST_ALERT, MOST_BUTTONS = 4096, 200, 100  # https://core.telegram.org/bots/api, in UTF-16
MOST_LABEL = 64
CONNECT = "connect"
# The last line of what a person is asked to reply to: what the reply is about, signed, as agents' texts end anyhow.
_ASKED = re.compile(r"\[(\w+) ([\w:]+) (\w+)\]\Z", re.ASCII)
_SIGNS = {"good": "✅ ", "bad": "❌ "}

Json = dict[str, Any]


class Telegram:
    """See `metacog.chats.shapes.Chat`."""

    room = 2_400  # beside the rest of a message
    secret_is_given = False

    def introduce(self, app: ChatApp, incoming_url: str) -> str:
        known = _call(app, "getMe")
        secret = keys.decrypted(app.secret_encrypted)
        _call(app, "setWebhook", url=incoming_url, secret_token=secret, allowed_updates=UPDATES)
        return f"@{known['username']}"

    def send(self, app: ChatApp, card: Card) -> str:
        posted = _call(app, "sendMessage", chat_id=app.place, **_message(card))
        return f"{posted['chat']['id']}:{posted['message_id']}"

    def update(self, app: ChatApp, message: str, card: Card) -> None:
        place, _colon, number = message.rpartition(":")
        _call(app, "editMessageText", chat_id=place, message_id=int(number), **_message(card))

    def leave(self, app: ChatApp) -> None:
        _call(app, "deleteWebhook")

    def is_authentic(self, secret: str, headers: Mapping[str, str], body: bytes, now: float) -> bool:
        given = headers.get("X-Telegram-Bot-Api-Secret-Token", "")
        return hmac.compare_digest(secret.encode(), given.encode(errors="replace"))

    def press(self, body: bytes) -> Press | None:
        try:
            update = json.loads(body)
            if "callback_query" in update:
                return _pressed(update["callback_query"])
            return _written(update["message"]) if "message" in update else None
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def reply(self, app: ChatApp, press: Press, reply: Reply) -> Mapping[str, Any]:
        match reply:
            case Wrong(errors):
                return self.reply(app, press, Told("\n".join(errors.values())))
            case Form():
                return _ask(app, press, reply) if _fits(reply) else self.reply(app, press, reply.otherwise)
            case Done(text) if press.back["query"] and press.back["is_prompt"]:
                _answer(app, press)
                return {"method": "editMessageText", **press.back["message"], "text": text or "✓"}
            case Done(text) if press.back["query"]:
                return _answered(press, text)
            case Done(text):
                return _said(press, text or "✓")
            case Told(text, _link, label, is_theirs=True) if press.back["is_group"]:
                # Nothing is sent to one user of a group alone: the link is given where only they read it.
                talk = f"https://t.me/{app.name.removeprefix('@')}?start={CONNECT}"
                if press.back["query"]:
                    return _answered(press, text) | {"url": talk}
                return _said(press, text, [Button(label, url=talk)])
            case Told(text, link) if press.back["query"] and (press.back["is_group"] or not link):
                return _answered(press, text) | {"show_alert": True}  # the message beside it leads to the item
            case Told(text, link, label):
                if press.back["query"]:
                    _answer(app, press)
                return _said(press, text, [Button(label, url=link)] if link else [])
        raise AssertionError(reply)


def _call(app: ChatApp, method: str, seconds: int = calls.SECONDS, **given: Any) -> Any:
    """Call a method of the Bot API and return its result. Raises Refused."""
    base, token = settings.TELEGRAM_URL or API, calls.token_of(app)
    trusted = bool(settings.TELEGRAM_URL)  # the operator named it: it may be private
    said = calls.post(f"{base}/bot{token}/{method}", given, {}, seconds=seconds, is_trusted=trusted)
    if said.data.get("ok"):
        return said.data["result"]
    told = str(said.data.get("description", ""))
    if "message is not modified" in told:
        return None
    raise Refused(_trouble(said.status, told))


def _trouble(status: int, told: str) -> Trouble:
    if status in (401, 404):
        return Trouble.TOKEN
    if status == 403 or "chat not found" in told or "upgraded to a supergroup" in told:
        return Trouble.PLACE
    if "message to edit not found" in told or "message can't be edited" in told:
        return Trouble.GONE
    return Trouble.REFUSED


# -- what goes out ---------------------------------------------------------------------------------------


def _message(card: Card) -> Json:
    """Return a message in which nothing of an agent's is taken for a link or a mention: its passages are code."""
    text = card.title
    entities: list[Json] = [{"type": "bold", "offset": 0, "length": length(text)}]
    text += "".join(f"\n{line}" for line in card.lines)
    for passage in card.passages:
        text += f"\n\n{passage.label}\n" if passage.label else "\n\n"
        entities.append({"type": "pre", "offset": length(text), "length": length(passage.text)})
        text += passage.text
    text += "\n" if card.passages else ""
    text += "".join(f"\n{line}" for line in card.foot)
    return {
        "text": text,
        "entities": entities,
        "link_preview_options": {"is_disabled": True},
        "reply_markup": {"inline_keyboard": _keyboard(card.buttons)},
    }


def _keyboard(buttons: Sequence[Button]) -> list[list[Json]]:
    """Return the buttons, each choice in a row of its own, the others beside each other."""
    made = [_button(each) for each in buttons[:MOST_BUTTONS]]
    if len(made) <= 4:
        return [made] if made else []
    return [[each] for each in made]


def _button(button: Button) -> Json:
    label = _SIGNS.get(button.look, "") + button.label
    return {"text": cut(label, MOST_LABEL), **({"url": button.url} if button.url else {"callback_data": _data(button)})}


def _data(button: Button) -> str:
    data = f"{button.action}|{button.about}"
    assert len(data.encode()) <= MOST_ACTION, data
    return data


# -- what comes in ---------------------------------------------------------------------------------------


def _pressed(query: Mapping[str, Any]) -> Press:
    action, _bar, about = str(query["data"]).partition("|")
    message = query["message"]
    return Press(
        **_who(query["from"]),
        action=action,
        about=about,
        back=_back(message) | {"query": str(query["id"]), "is_prompt": _asked(message) is not None},
    )


def _written(message: Mapping[str, Any]) -> Press | None:
    """Return what somebody wrote to the bot: the command that begins a talk, or a reply to what it asked."""
    text, back = str(message.get("text", "")), _back(message) | {"query": "", "is_prompt": False}
    asked = message.get("reply_to_message")
    if asked and asked["from"].get("is_bot") and (found := _asked(asked)):
        return Press(**_who(message["from"]), action=found[0], about=found[1], written=text, back=back)
    if text.partition(" ")[0] == "/start" and not back["is_group"]:
        return Press(**_who(message["from"]), action=CONNECT, about="", back=back)
    return None


def _asked(message: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the action and what it is about, where a message of ours asks for words; None of any other."""
    found = _ASKED.search(str(message.get("text", "")))
    return (found[1], found[2]) if found and hmac.compare_digest(found[3], _mark(found[1], found[2])) else None


def _mark(action: str, about: str) -> str:
    return salted_hmac("chats.telegram", f"{action} {about}").hexdigest()[:12]


def _who(user: Mapping[str, Any]) -> Json:
    name = " ".join(str(user[part]) for part in ("first_name", "last_name") if user.get(part))
    called = f"@{user['username']}" if user.get("username") else str(user["id"])
    return {"user": str(user["id"]), "name": f"{name} ({called})"}


def _back(message: Mapping[str, Any]) -> Json:
    place = message["chat"]
    return {
        "message": {"chat_id": place["id"], "message_id": message["message_id"]},
        "is_group": place["type"] != "private",
    }


# -- replies ---------------------------------------------------------------------------------------------


def _answered(press: Press, text: str) -> Json:
    told = cut(text, MOST_ALERT)
    return {"method": "answerCallbackQuery", "callback_query_id": press.back["query"], "text": told}


def _answer(app: ChatApp, press: Press) -> None:
    """End the waiting of a button. It ends by itself, too: that it cannot be said takes nothing away."""
    try:
        _call(app, "answerCallbackQuery", calls.SOON_SECONDS, callback_query_id=press.back["query"])
    except Refused:
        return


def _said(press: Press, text: str, buttons: list[Button] | None = None) -> Json:
    message = press.back["message"]
    return {
        "method": "sendMessage",
        "chat_id": message["chat_id"],
        "text": cut(text, MOST_TEXT),
        "reply_parameters": {"message_id": message["message_id"], "allow_sending_without_reply": True},
        **({"reply_markup": {"inline_keyboard": _keyboard(buttons)}} if buttons else {}),
    }


def _fits(form: Form) -> bool:
    """Tell whether a form is one choice, one text, or both, of which one is enough: buttons, and a reply."""
    choices = [each for each in form.fields if each.options]
    is_small = len(form.fields) > 0 and len(choices) <= 1 and len(form.fields) - len(choices) <= 1
    kinds = {each.kind for each in form.fields}
    return is_small and "choices" not in kinds and all(len(each.options) <= MOST_BUTTONS for each in choices)


def _ask(app: ChatApp, press: Press, form: Form) -> Json:
    """Ask for a form by a message: its choice are buttons, its text is what is written in reply."""
    _answer(app, press)
    choice: Field | None = next((each for each in form.fields if each.options), None)
    has_text = any(not each.options for each in form.fields)
    how = [form.title, *(each.label for each in form.fields if each.label and each.label != form.title)]
    if has_text:
        how.append(gettext("Reply to this message with your words."))
    text = cut("\n".join(how), MOST_TEXT // 2) + f"\n[{form.action} {form.about} {_mark(form.action, form.about)}]"
    buttons = (
        [Button(each.label, form.action, f"{form.about}:{each.value}") for each in choice.options] if choice else []
    )
    said = _said(press, text, buttons)
    if not buttons:
        said["reply_markup"] = {"force_reply": True}
    return said
