"""What people answer to the questions of agents."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator

from metacog.heuristics.text.shadow import is_blank
from metacog.heuristics.tool_calls.secrets import masked
from metacog.heuristics.wire import json_schema
from metacog.heuristics.wire.wire import instant
from reviews.models import HeldItem


def errors_of(held: HeldItem, answer: Any) -> list[dict[str, str]]:
    """Say why an answer is none to a question, read with it: {"pointer", "detail"}, 32 at most."""
    question = held.question
    if question.choices is not None and answer not in question.choices:
        return [{"pointer": "", "detail": f"must be one of the choices: {', '.join(map(repr, question.choices))}"}]
    if question.schema is not None:
        return json_schema.errors_of(answer, question.schema, FORMATS)
    if question.choices is None and (not isinstance(answer, str) or is_blank(answer)):
        return [{"pointer": "", "detail": "must be a text, and not blank"}]
    return []


def restored(held: HeldItem, answer: Any) -> Any:
    """Return the choice that an answer names as people read it, with its secrets masked; any other answer as it is."""
    choices = held.question.choices or []
    named = [choice for choice, shown in zip(choices, masked(choices), strict=True) if answer == shown]
    return named[0] if len(named) == 1 else answer


def _email(value: str) -> None:
    try:
        EmailValidator()(value)
    except ValidationError as error:
        raise ValueError from error


def _uri(value: str) -> None:
    parts = urlsplit(value)
    if not parts.scheme or not (parts.netloc or parts.path) or any(each.isspace() for each in value):
        raise ValueError


def _date(value: str) -> None:
    date.fromisoformat(value)
    if len(value) != len("2026-02-16"):
        raise ValueError


# Each raises ValueError where a string is none of the format; any other format is not checked.
FORMATS: dict[str, Callable[[str], object]] = {"date": _date, "date-time": instant, "email": _email, "uri": _uri}
