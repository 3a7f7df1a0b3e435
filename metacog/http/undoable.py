"""Messages about what can be taken back by one press: an Undo beside them, which is a form."""

from __future__ import annotations

import json
from typing import NamedTuple

from django.contrib import messages
from django.contrib.messages.storage.base import Message
from django.http import HttpRequest


class Undo(NamedTuple):
    """What a press posts, and where."""

    path: str
    fields: list[tuple[str, str]]


def say(request: HttpRequest, told: str, path: str, *fields: tuple[str, str]) -> None:
    """Have the next page say what was done, with an Undo that posts these fields."""
    messages.success(request, told, extra_tags=json.dumps([path, fields]))


def undo_of(message: Message) -> Undo | None:
    """Return what takes back what a message says; None where nothing does."""
    if not message.extra_tags:
        return None
    path, fields = json.loads(message.extra_tags)
    return Undo(path, fields)
