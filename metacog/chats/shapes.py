"""What every chat can do, in values that know nothing of any: a card goes out, a press comes in, a reply goes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from metacog.models import ChatApp

MOST_ACTION = 64  # bytes of an action with what it is about: Telegram takes no more


class Refused(Exception):
    """A chat did not take what it was sent; `trouble` says why, and `wait` for how many seconds it asked to wait."""

    def __init__(self, trouble: str, wait: float = 0.0) -> None:
        super().__init__(trouble)
        self.trouble = trouble
        self.wait = wait


def length(text: str) -> int:
    """Return how many characters a text has as chats count them, in UTF-16."""
    return len(text.encode("utf-16-le", "replace")) // 2


def cut(text: str, most: int) -> str:
    """Return a text with at most so many characters, counted likewise."""
    units = text.encode("utf-16-le", "replace")
    return text if len(units) <= 2 * most else units[: 2 * (most - 1)].decode("utf-16-le", "ignore") + "…"


class Button(NamedTuple):
    """A button: with a `url` it opens that, else `action` and `about` come back when it is pressed."""

    label: str
    action: str = ""
    about: str = ""
    look: Literal["", "good", "bad"] = ""
    url: str = ""


class Passage(NamedTuple):
    """A text of an agent's, shown as it is under a label: no mark-up, no link, and nobody called."""

    label: str
    text: str


@dataclass(frozen=True)
class Card:
    """One message. All but its passages is inert by now (`metacog.notices.chat.inert`)."""

    title: str
    lines: Sequence[str] = ()
    passages: Sequence[Passage] = ()
    foot: Sequence[str] = ()
    buttons: Sequence[Button] = ()


class Option(NamedTuple):
    value: str
    label: str


class Field(NamedTuple):
    """One field of a form, by its name."""

    name: str
    label: str
    kind: Literal["line", "text", "number", "date", "email", "url", "choice", "choices"]
    hint: str = ""
    options: Sequence[Option] = ()
    is_required: bool = False
    value: str = ""  # what stands in it at first: of a choice the value of an option


@dataclass(frozen=True)
class Press:
    """What a user of the chat did. `back` is the chat's own: how it is answered."""

    user: str  # the chat's id of them
    name: str
    action: str
    about: str
    filled: Mapping[str, Sequence[str]] | None = None  # of a form that was sent, by field
    written: str = ""  # what was written in reply, where the chat has no forms
    back: Mapping[str, Any] = field(default_factory=dict)


class Done(NamedTuple):
    """Nothing to ask: the card will show it. `text` says it where the chat can."""

    text: str = ""


class Told(NamedTuple):
    """A sentence for whoever pressed, and nobody else; with a link where there is one to follow."""

    text: str
    link: str = ""
    label: str = ""  # of the link
    is_theirs: bool = False  # it may be followed by whoever pressed, and by nobody else


class Form(NamedTuple):
    """Fields to fill in; `action` and `about` come back with them."""

    title: str
    action: str
    about: str
    fields: Sequence[Field]
    submit: str
    otherwise: Told  # where the chat cannot ask for these


class Wrong(NamedTuple):
    """What is wrong with a form that was sent, by field."""

    errors: Mapping[str, str]


Reply = Done | Told | Form | Wrong


class Chat(Protocol):
    """One kind of chat. What it sends raises Refused; nothing else leaves it."""

    room: int  # characters that the passages of a card may have
    secret_is_given: bool  # by the chat, to be entered; else it is ours

    def introduce(self, app: ChatApp, incoming_url: str) -> str:
        """Return what the chat calls the app, and have presses sent to an address where that is to be asked for."""

    def send(self, app: ChatApp, card: Card) -> str:
        """Post a card and return where the chat has it."""

    def update(self, app: ChatApp, message: str, card: Card) -> None:
        """Show another card in the place of one."""

    def leave(self, app: ChatApp) -> None:
        """Have nothing more sent to us."""

    def is_authentic(self, secret: str, headers: Mapping[str, str], body: bytes, now: float) -> bool:
        """Tell whether the chat sent a request; any defect is False."""

    def press(self, body: bytes) -> Press | None:
        """Return what an authentic request says somebody did; None where that is nothing of ours."""

    def reply(self, app: ChatApp, press: Press, reply: Reply) -> Mapping[str, Any]:
        """Return the JSON that answers the request, having asked the chat for what that cannot say."""
