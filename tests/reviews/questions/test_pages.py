"""The form in which a person answers a question: in the console and behind the link of a mail."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from metacog.models import Team
from reviews.models import Decision, HeldItem
from reviews.outbox import mail_links
from tests.reviews.questions.test_api import CHOICES, asked
from tests.tables import table

pytestmark = pytest.mark.django_db

FORM: dict[str, Any] = {
    "type": "object",
    "required": ["account", "eur", "sure"],
    "properties": {
        "account": {"enum": ["A", "B"], "title": "Account", "description": "Where the money is."},
        "eur": {"type": "integer", "minimum": 1, "maximum": 500, "default": 20},
        "share": {"type": "number"},
        "sure": {"type": "boolean"},
        "days": {"type": "array", "items": {"enum": ["Mon", "Tue", "Wed"]}},
        "mail": {"type": "string", "format": "email"},
        "on": {"type": "string", "format": "date"},
        "note": {"type": ["string", "null"], "maxLength": 200},
        "to": {"$ref": "#/$defs/Address"},
        "extra": {"type": "object"},
    },
    "$defs": {
        "Address": {
            "type": "object",
            "required": ["city"],
            "properties": {"city": {"type": "string"}, "country": {"oneOf": [{"const": "DE", "title": "Germany"}]}},
        }
    },
}
LOOP = {"$ref": "#/$defs/Self", "$defs": {"Self": {"$ref": "#/$defs/Self"}}}
FILLED = {
    "a/account": "1", "a/eur": "40", "a/share": "0.5", "a/sure": "1", "a/days": ["0", "2"], "a/mail": "a@b.example",
    "a/on": "2026-11-27", "a/note": "", "a/to/city": "Bremen", "a/to/country": "0", "a/extra": '{"x": [1]}',
}  # fmt: skip
ANSWER = {
    "account": "B", "eur": 40, "share": 0.5, "sure": False, "days": ["Mon", "Wed"], "mail": "a@b.example",
    "on": "2026-11-27", "to": {"city": "Bremen", "country": "DE"}, "extra": {"x": [1]},
}  # fmt: skip


def page(client: Any, held: str) -> str:
    text: str = client.get(reverse("item", args=[held])).content.decode()
    return text


def answer(client: Any, held: str, **fields: Any) -> Any:
    item = HeldItem.objects.get(public_id=held)
    sent = {"verdict": "answer", "version": item.version, "sha256": item.sha256, **fields}
    return client.post(reverse("decide", args=[held]), sent)


def test_a_form_is_made_of_choices(kuro: Any, client: Any, alice: Any) -> None:
    client.force_login(alice)
    held = asked(kuro, choices=["Savings", "<b>Current</b>"])
    text = page(client, held)
    assert text.count('type="radio" name="a"') == 2
    assert "&lt;b&gt;Current&lt;/b&gt;" in text
    assert 'id="edit"' not in text
    refused = answer(client, held)
    assert (refused.status_code, "This is required." in refused.content.decode()) == (422, True)
    assert answer(client, held, a="7").status_code == 422
    assert answer(client, held, a="1").status_code in (200, 302)
    assert Decision.objects.get().answer == "<b>Current</b>"
    assert "answered by you" in page(client, held)


def test_the_earlier_decisions_are_those_before_the_present_one_with_their_answers(
    kuro: Any, client: Any, alice: Any
) -> None:
    client.force_login(alice)
    held = asked(kuro, choices=["Savings", "Current", "Neither"])
    answer(client, held, a="2")
    client.post(reverse("undo", args=[Decision.objects.get().public_id]))
    answer(client, held, a="0")
    earlier = page(client, held).partition("Earlier decisions")[2].partition("</section>")[0]
    assert earlier.count("answered by you") == 1
    assert '<div class="answered">Neither</div>' in earlier
    assert "and undone" in earlier


def test_a_form_is_made_of_a_schema(kuro: Any, client: Any, alice: Any) -> None:
    client.force_login(alice)
    held = asked(kuro, schema=FORM)
    text = page(client, held)
    for part in (
        "Where the money is.", "From 1 to 500.", 'value="20"', 'type="date" name="a/on"', 'type="email" name="a/mail"',
        'type="checkbox" name="a/days"', 'name="a/to/city"', "Germany", "200 characters at most.",
    ):  # fmt: skip
        assert part in text, part
    wrong = answer(client, held, **(FILLED | {"a/eur": "501", "a/mail": "nobody"}))
    told = wrong.content.decode()
    assert wrong.status_code == 422
    assert "501 is greater than the maximum of 500" in told
    assert told.count('aria-invalid="true"') == 2
    assert "Bremen" in told  # what was typed stays
    assert answer(client, held, **(FILLED | {"a/eur": "x"})).status_code == 422
    assert answer(client, held, **FILLED).status_code in (200, 302)
    assert Decision.objects.get().answer == ANSWER


@table(
    ("question", "typed", "wanted"),
    [
        pytest.param({}, "In Bremen\r\nat the harbor", "In Bremen\nat the harbor", id="text"),
        pytest.param({"schema": {"type": "integer"}}, "12", 12, id="number"),
        pytest.param({"schema": {"type": "boolean"}}, "0", True, id="boolean"),
        pytest.param({"schema": {"type": "array", "items": {"type": "integer"}}}, "[1, 2]", [1, 2], id="json"),
        pytest.param({"schema": {"anyOf": [{"enum": [1, 2]}, {"type": "null"}]}}, "", None, id="nullable"),
        pytest.param({"schema": {"enum": [1, True, "1"]}}, "1", True, id="values of several types"),
        pytest.param({"schema": LOOP}, "1", None, id="loop"),
    ],
    rolled_back=True,
)
def test_one_field_gives_its_value(
    kuro: Any, client: Any, alice: Any, question: dict[str, Any], typed: str, wanted: Any
) -> None:
    client.force_login(alice)
    held = asked(kuro, **question)
    assert page(client, held)
    if answer(client, held, a=typed).status_code == 422:
        assert wanted is None
    else:
        assert Decision.objects.get().answer == wanted


def test_a_question_is_rejected_and_never_approved(kuro: Any, client: Any, alice: Any) -> None:
    client.force_login(alice)
    held = asked(kuro, **CHOICES)
    assert answer(client, held, verdict="approve").status_code == 422
    assert answer(client, held, verdict="reject", reason="Ask the bank.").status_code in (200, 302)
    assert Decision.objects.get().verdict == "reject"


def test_a_viewer_sees_no_form(kuro: Any, client: Any, victor: Any) -> None:
    client.force_login(victor)
    held = asked(kuro, **CHOICES)
    assert 'name="a"' not in page(client, held)
    assert answer(client, held, a="0").status_code == 403


def test_bulk_decisions_leave_questions_out_and_say_so(kuro: Any, client: Any, alice: Any) -> None:
    client.force_login(alice)
    held, words = asked(kuro, **CHOICES), kuro.hold()
    shown = client.get(reverse("together"), {"held": [held, words]}).content.decode()
    assert "Left out 1 question" in shown
    assert f'value="{held}:' not in shown
    items = [f"{each.public_id}:{each.version}:{each.sha256}" for each in HeldItem.objects.all()]
    done = client.post(reverse("decide-together"), {"item": items, "verdict": "approve"}, follow=True).content.decode()
    assert "Left out 1 question" in done
    assert {each.held.public_id for each in Decision.objects.all()} == {words}


def test_it_is_answered_behind_the_link_of_a_mail(kuro: Any, alice: Any) -> None:
    held = HeldItem.objects.get(public_id=asked(kuro, **CHOICES))
    Team.objects.update(mail_links=True)
    path, stranger = mail_links.path(mail_links.link_to(alice, held, timezone.now())), Client()
    assert stranger.get(path).content.decode().count('type="radio" name="a"') == 2
    assert stranger.post(path, {"verdict": "answer", "sha256": held.sha256}).status_code == 422
    assert stranger.post(path, {"verdict": "approve", "sha256": held.sha256}).status_code == 422
    assert stranger.post(path, {"verdict": "answer", "sha256": held.sha256, "a": "1"}).status_code == 302
    assert Decision.objects.get().answer == "Current"
    assert "Current" in stranger.get(path).content.decode()


def test_the_queue_says_that_it_asks(kuro: Any, client: Any, alice: Any) -> None:
    client.force_login(alice)
    asked(kuro, **CHOICES)
    text = client.get(reverse("queue"), {"kind": "question"}).content.decode()
    assert "Which account?" in text
    assert "Asks" in text
