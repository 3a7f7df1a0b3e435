"""Language, time zone, theme, keys and password."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from metacog.models import AuditEvent, User
from metacog.pages import account
from tests.tables import table

CHOICES = {"language": "zh-hant", "time_zone": "Asia/Taipei", "theme": "dark", "keyboard": "on"}


def test_it_keeps_what_was_chosen(alice: Any, as_person: Any) -> None:
    client = as_person(alice)
    answer = client.post(reverse("preferences"), CHOICES)
    assert answer.status_code == 302
    person = User.objects.get(pk=alice.pk)
    assert (person.language, person.time_zone, person.theme) == ("zh-hant", "Asia/Taipei", "dark")
    assert client.cookies["theme"].value == "dark"
    assert client.cookies["language"].value == "zh-hant"
    assert '<html lang="zh-hant" data-theme="dark">' in client.get(reverse("preferences")).content.decode()


@table(("field", "value"), [("time_zone", "Mars/Olympus"), ("theme", "pink"), ("language", "tlh")], rolled_back=True)
def test_it_refuses_what_there_is_not(alice: Any, as_person: Any, field: str, value: str) -> None:
    answer = as_person(alice).post(reverse("preferences"), CHOICES | {field: value})
    assert answer.status_code == 422
    assert User.objects.get(pk=alice.pk).time_zone == ""


@table(
    ("chosen", "browser", "kept"),
    [
        ("", "Asia/Taipei", "Asia/Taipei"),
        ("", "Mars/Olympus", ""),
        ("", "../etc", ""),
        ("", "Europe", ""),
        ("Europe/Berlin", "Asia/Taipei", "Europe/Berlin"),
    ],
    rolled_back=True,
)
def test_the_browser_tells_the_time_zone_of_whoever_has_chosen_none(
    alice: Any, as_person: Any, chosen: str, browser: str, kept: str
) -> None:
    User.objects.filter(pk=alice.pk).update(time_zone=chosen)
    client = as_person(alice)
    client.cookies["time_zone"] = browser
    page = client.get(reverse("preferences")).content.decode()
    assert User.objects.get(pk=alice.pk).time_zone == kept
    assert ("time_zone.js" in page) == (not chosen)


def test_cities_are_named_in_the_readers_language(alice: Any, as_person: Any, translated: None) -> None:
    User.objects.filter(pk=alice.pk).update(language="zh-hans")
    page = as_person(alice).get(reverse("preferences")).content.decode()
    assert '<optgroup label="亚洲">' in page
    assert '<option value="Asia/Taipei">台北 (Taipei)</option>' in page


PASSWORDS = {"old_password": "alice-password", "new_password1": "a long new one", "new_password2": "a long new one"}


@pytest.mark.parametrize(("form", "data"), [("PreferencesForm", CHOICES), ("PasswordForm", PASSWORDS)])
def test_it_puts_nothing_back_that_was_changed_meanwhile(
    alice: Any, as_person: Any, monkeypatch: pytest.MonkeyPatch, form: str, data: Any
) -> None:
    class Slow(getattr(account, form)):  # type: ignore[misc]  # whichever form it is
        def full_clean(self) -> None:
            User.objects.filter(pk=alice.pk).update(is_active=False)
            super().full_clean()

    monkeypatch.setattr(account, form, Slow)
    assert as_person(alice).post(reverse("preferences"), data).status_code == 302
    assert not User.objects.get(pk=alice.pk).is_active


def test_a_new_password_ends_the_other_sessions(alice: Any, as_person: Any) -> None:
    here, elsewhere = as_person(alice), as_person(alice)
    assert here.post(reverse("preferences"), PASSWORDS).status_code == 302
    assert here.get(reverse("team")).status_code == 200
    assert elsewhere.get(reverse("team")).status_code == 302
    assert AuditEvent.objects.get(action="password-changed").actor == "alice"


def test_the_old_password_is_asked_for(alice: Any, as_person: Any) -> None:
    data = {"old_password": "wrong", "new_password1": "a long new one", "new_password2": "a long new one"}
    answer = as_person(alice).post(reverse("preferences"), data)
    assert answer.status_code == 422
    assert 'id="id_old_password_error"' in answer.content.decode()


def test_the_theme_is_kept_for_a_person_and_a_browser(alice: Any, as_person: Any) -> None:
    client = as_person(alice)
    answer = client.post(reverse("set-theme"), {"theme": "dark", "next": "/team/"})
    assert answer.url == "/team/"
    assert User.objects.get(pk=alice.pk).theme == "dark"
    assert client.cookies["theme"].value == "dark"
    client.post(reverse("set-theme"), {"theme": "", "next": "/team/"})
    assert client.cookies["theme"].value == ""


@table("after", ["https://evil.example/", "//evil.example", ""], rolled_back=True)
def test_the_theme_leads_nowhere_else(db: None, after: str) -> None:
    answer = Client().post(reverse("set-theme"), {"theme": "light", "next": after})
    assert answer["Location"] == reverse("queue")


def test_there_are_three_themes(db: None) -> None:
    assert Client().post(reverse("set-theme"), {"theme": "pink"}).status_code == 400


@table(
    ("stored", "alias"),
    [("Asia/Kolkata", ""), ("", ""), ("Asia/Calcutta", "Asia/Calcutta"), ("US/Eastern", "US/Eastern")],
    rolled_back=True,
)
def test_a_time_zone_is_offered_once_and_a_stored_name_of_before_stays(
    alice: Any, as_person: Any, stored: str, alias: str
) -> None:
    User.objects.filter(pk=alice.pk).update(time_zone=stored)
    client = as_person(User.objects.get(pk=alice.pk))
    page = client.get(reverse("preferences")).content.decode()
    offered = {name for name in ("Asia/Calcutta", "US/Eastern", "Europe/Kiev") if f'<option value="{name}"' in page}
    assert offered == {alias} - {""}
    for name in ("Asia/Kolkata", "Europe/Kyiv", "America/Argentina/Buenos_Aires", "UTC"):
        assert page.count(f'<option value="{name}"') == 1, name
    client.post(reverse("preferences"), CHOICES | {"time_zone": stored})
    assert User.objects.get(pk=alice.pk).time_zone == stored
