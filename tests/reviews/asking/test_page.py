"""The page of who is asked, what of it stands on an item, and in the review API."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import trans_real

from metacog.models import AuditEvent, PersonNotices
from metacog.runtime import catalogs
from reviews.asking import settings as asking
from reviews.asking import steps
from reviews.asking.forms import AskingForm
from reviews.asking.rota import Rota
from reviews.models import TeamAsking
from tests.reviews.api.test_review import program_of
from tests.tables import table

pytestmark = pytest.mark.django_db


def form(**fields: Any) -> dict[str, Any]:
    """Return the form as it is sent: three conditions a route, and nothing filled in."""
    sent: dict[str, Any] = {
        "rota-begins": "2026-11-23",
        "rota-weekday": "0",
        "rota-hour": "9",
        "rota-time_zone": "Europe/Berlin",
    }
    for name in ("instead", "route", "step"):
        sent |= {f"{name}-TOTAL_FORMS": "2", f"{name}-INITIAL_FORMS": "0"}
    for route in range(2):
        for line in range(3):
            sent |= {f"route-{route}-of{line}": "where", f"route-{route}-operator{line}": "eq"}
    return sent | fields


def settings_of(team: Any) -> dict[str, Any]:
    found: dict[str, Any] = TeamAsking.objects.get(team=team).settings
    return found


def test_an_owner_sets_all_of_it_with_one_button(
    people: dict[str, Any], group: Any, aurora: Any, as_person: Any
) -> None:
    group("finance", "carla")
    alice, bob = people["alice"].pk, people["bob"].pk
    client, path = as_person(people["olga"]), f"/team/{aurora.pk}/asking"
    sent = form(
        **{"rota-person0": alice, "rota-person1": bob, "rota-tells": "on"},
        **{"instead-0-person": bob, "instead-0-begin": "2099-12-24T09:00", "instead-0-end": "2099-12-27T09:00"},
        **{"route-0-ORDER": "2", "route-0-to": "on-call"},
        **{"route-1-ORDER": "1", "route-1-to": "group:finance", "route-1-kind": "tool_call", "route-1-tool": "pay*"},
        **{"route-1-effects": ["pay"], "route-1-of0": "amount", "route-1-place0": "eur", "route-1-operator0": "gt"},
        **{"route-1-value0": "1000", "route-1-of1": "metadata", "route-1-place1": "run", "route-1-value1": "r-12"},
        **{"route-1-place2": "iban", "route-1-operator2": "glob", "route-1-value2": "DE*"},
        **{"step-0-after": "15", "step-0-to": "owners", "step-1-after": "30", "step-1-to": f"person:{bob}"},
    )
    assert client.post(path, sent).status_code == 302
    wanted = {
        "rota": {
            "people": [alice, bob],
            "weekday": 0,
            "hour": 9,
            "time_zone": "Europe/Berlin",
            "begins": "2026-11-23",
            "tells": True,
            "instead": [{"person": bob, "from": "2099-12-24T08:00:00+00:00", "until": "2099-12-27T08:00:00+00:00"}],
        },
        "routes": [
            {
                "kind": "tool_call",
                "tool": "pay*",
                "effects": {"any": ["pay"]},
                "amount": {"gt": 1000, "currency": "EUR"},
                "metadata": {"/run": {"eq": "r-12"}},
                "where": {"/iban": {"glob": "DE*"}},
                "to": "group:finance",
            },
            {"to": "on-call"},
        ],
        "steps": [{"after": 15, "to": "owners"}, {"after": 30, "to": f"person:{bob}"}],
    }
    assert settings_of(aurora) == wanted
    assert AuditEvent.objects.get(action="asking-changed").data["fields"] == ["rota", "routes", "steps"]
    page = client.get(path).content.decode()
    assert "Tool call, Tool pay*, it moves money, /iban is like &quot;DE*&quot;, amount in EUR is more" in page
    assert 'value="2099-12-24T09:00"' in page
    for name in ("rota", "routes", "steps"):
        assert f'id="{name}"' in page
    assert "After 15 minutes: the owners" in as_person(people["alice"]).get(path).content.decode()


def test_what_is_shown_is_sent_back_as_it_was(people: dict[str, Any], aurora: Any, as_person: Any) -> None:
    rota = Rota((people["alice"].pk, people["bob"].pk), begins=timezone.now().date() - timedelta(days=300))
    now = timezone.now()
    begins = rota.last_handover(now)
    given = {
        "rota": {"people": rota.in_order(now), "weekday": 0, "hour": 9, "time_zone": "UTC"},
        "routes": [
            {"tool": "a*", "effects": {"any": ["pay", "send"]}, "where": {"/n": {"in": [1, 2]}}, "to": "owners"}
        ],
        "steps": [{"after": 5, "to": "owners"}],
    }
    given["rota"] |= {"begins": begins.isoformat(), "tells": False}  # type: ignore[operator]
    asking.save(aurora, people["olga"], given)
    shown, sent = AskingForm(aurora, given, now), QueryDict(mutable=True)
    for each in (shown.rota, *(part for part in (shown.instead, shown.routes, shown.steps) for part in part)):
        for bound in each:
            value = bound.value()
            if not (value is None or value is False or value == ""):
                sent.setlist(bound.html_name, value if isinstance(value, list) else [str(value)])
    for part in (shown.instead, shown.routes, shown.steps):
        for bound in part.management_form:
            sent[bound.html_name] = str(bound.value())
    again = AskingForm(aurora, given, now, sent)
    assert again.is_valid, [again.rota.errors, again.instead.errors, again.routes.errors, again.steps.errors]
    assert asking.save(aurora, people["olga"], again.given) == []


@table(
    ("fields", "told"),
    [
        ({"step-0-after": "0", "step-0-to": "owners"}, "Ensure this value is greater than or equal to 1."),
        ({"step-0-after": "5", "step-0-to": ""}, "This field is required."),
        ({"step-0-after": "5", "step-0-to": "group:gone"}, "Select a valid choice."),
        ({"route-0-to": "owners", "route-0-place0": "eur"}, "Give a value."),
        ({"route-0-to": "owners", "route-0-place0": "eur", "route-0-value0": "[1"}, "This is not JSON."),
        (
            {"route-0-to": "owners", "route-0-place0": "e", "route-0-operator0": "regex", "route-0-value0": "(a)\\1"},
            "Not a regular expression that can be searched in linear time",
        ),
        (
            {"instead-0-person": "1", "instead-0-begin": "2099-12-24T09:00", "instead-0-end": "2099-12-24T09:00"},
            "It must end after it begins.",
        ),
    ],
    rolled_back=True,
)
def test_what_is_wrong_is_said_and_nothing_saved(
    fields: dict[str, str], told: str, people: dict[str, Any], aurora: Any, as_person: Any
) -> None:
    if "instead-0-person" in fields:
        fields = fields | {"instead-0-person": str(people["bob"].pk)}
    answer = as_person(people["olga"]).post(f"/team/{aurora.pk}/asking", form(**fields))
    assert answer.status_code == 422
    page = answer.content.decode()
    assert told in page
    assert "Nothing was saved" in page
    assert not TeamAsking.objects.exists()


def test_only_owners_change_it_and_only_the_team_sees_it(
    people: dict[str, Any], victor: Any, mallory: Any, aurora: Any, as_person: Any
) -> None:
    path = f"/team/{aurora.pk}/asking"
    for person, seen, changed in ((victor, 200, 403), (people["carla"], 200, 403), (mallory, 404, 404)):
        client = as_person(person)
        assert (client.get(path).status_code, client.post(path, form()).status_code) == (seen, changed)


def test_the_page_says_who_is_on_call_now_and_next_and_whom_nothing_reaches(
    people: dict[str, Any], aurora: Any, as_person: Any
) -> None:
    now = timezone.now()
    rota = {"people": [people["alice"].pk, people["bob"].pk], "begins": f"{Rota().last_handover(now)}"}
    asking.save(aurora, people["olga"], {"rota": rota})
    PersonNotices.objects.filter(person=people["bob"]).update(mentions=False)
    page = as_person(people["carla"]).get(f"/team/{aurora.pk}/asking").content.decode()
    assert "Now: <b>Alice</b>." in page
    assert "UTC: Bob." in page
    assert '<span class="pill">Bob</span>' in page
    assert '<span class="pill">Alice</span>' not in page


def test_an_item_says_who_is_asked_now_and_next(people: dict[str, Any], kuro: Any, aurora: Any, as_person: Any) -> None:
    alice, bob = people["alice"], people["bob"]
    given = {
        "rota": {"people": [alice.pk]},
        "routes": [{"to": "on-call"}],
        "steps": [{"after": 15, "to": "owners"}, {"after": 15, "to": f"person:{bob.pk}"}],
    }
    asking.save(aurora, people["olga"], given)
    held, program = kuro.hold(), program_of(alice)
    assert program.get(f"/review/held/{held}").json()["asked"] is None
    now = timezone.now()
    steps.sweep(now)
    page = as_person(alice).get(f"/queue/{held}/").content.decode()
    assert "Asked: Alice (on call) since" in page
    assert "</time> the owners" in page
    asked = program.get(f"/review/held/{held}").json()["asked"]
    assert (asked["to"], asked["people"], asked["next_to"]) == ("on-call", ["alice"], "owners")
    steps.sweep(now + timedelta(minutes=16))
    asked = program.get(f"/review/held/{held}").json()["asked"]
    assert (asked["to"], asked["people"], asked["next_to"]) == ("owners", ["olga"], "person:bob")
    page = as_person(alice).get(f"/queue/{held}/").content.decode()
    assert "Asked: Olga (owners) since" in page
    assert kuro.get(f"/held/{held}").json().keys().isdisjoint({"asked"}), "agents hear nothing of it"


def test_a_recipient_that_is_nobody_is_named_beside_its_step_alone_and_the_item_promises_the_owners(
    people: dict[str, Any], group: Any, kuro: Any, aurora: Any, victor: Any, as_person: Any
) -> None:
    group("finance", "victor")
    given = [{"after": 15, "to": f"person:{people['bob'].pk}"}, {"after": 15, "to": "group:finance"}]
    asking.save(aurora, people["olga"], {"steps": given[1:]})
    held = kuro.hold()
    steps.sweep(timezone.now())
    page = " ".join(as_person(people["alice"]).get(f"/queue/{held}/").content.decode().split())
    assert "</time> the owners (the group “finance”: nobody who can decide)" in page
    asking.save(aurora, people["olga"], {"steps": given})
    page = as_person(people["olga"]).get(f"/team/{aurora.pk}/asking").content.decode()
    assert page.count("Nobody here can decide now") == 1
    assert page.count("can decide now") == 1
    assert '<details class="route" open>' not in page, "the form of a new route is opened when it is wanted"


@table("rest, told", [([], ""), ([{"after": 15, "to": "owners"}], "Asked: every reviewer; at")], rolled_back=True)
def test_of_what_no_route_matches_it_says_who_is_next(
    people: dict[str, Any], kuro: Any, aurora: Any, as_person: Any, rest: list[Any], told: str
) -> None:
    asking.save(aurora, people["olga"], {"steps": rest, "routes": [{"kind": "task", "to": "owners"}]})
    held = kuro.hold()
    steps.sweep(timezone.now())
    page = " ".join(as_person(people["alice"]).get(f"/queue/{held}/").content.decode().split())
    assert (told in page, "Asked:" in page) == (True, bool(told))


def test_a_route_shows_the_conditions_that_it_has_and_more_on_request(
    people: dict[str, Any], aurora: Any, as_person: Any
) -> None:
    client, path = as_person(people["olga"]), f"/team/{aurora.pk}/asking"
    route = {"route-0-to": "owners", "route-0-of0": "amount", "route-0-place0": "EUR", "route-0-operator0": "gt"}
    client.post(path, form(**route, **{"route-0-value0": "100"}))

    def folded(page: str) -> list[str]:
        """Return how often each condition is below "Add condition"."""
        found, depth = [], 0
        for tag in re.findall(r'<details class="more">|</details>|name="route-\d-value\d"', page):
            depth = depth + 1 if tag.startswith("<details") else max(0, depth - 1) if tag == "</details>" else depth
            if tag.startswith("name"):
                found.append(f"{tag[12:-1]} {depth}")
        return found

    page = client.get(path).content.decode()
    assert folded(page) == [
        "0-value0 0", "0-value1 1", "0-value2 2", "1-value0 1", "1-value1 2", "1-value2 3",
    ]  # fmt: skip
    wrong = form(**route, **{"route-0-value0": "[1", "route-0-place1": "iban"})
    assert folded(client.post(path, wrong).content.decode())[:3] == ["0-value0 0", "0-value1 0", "0-value2 1"]


@table(
    ("of", "typed", "wanted"),
    [
        ("amount", "abc", None),
        ("amount", "1,000", None),
        ("amount", '"b"', None),
        ("amount", "2026-12-24", None),
        ("amount", "99.50", 99.5),
        ("where", "abc", None),
        ("where", "1,000 EUR", None),
        ("where", "1000", 1000),
        ("where", '"b"', "b"),
        ("where", "2026-12-24", "2026-12-24"),
    ],
    rolled_back=True,
)
def test_what_is_compared_by_size_is_a_number_or_a_text_in_quotes(
    people: dict[str, Any], aurora: Any, as_person: Any, of: str, typed: str, wanted: Any
) -> None:
    client, path = as_person(people["olga"]), f"/team/{aurora.pk}/asking"
    place = "EUR" if of == "amount" else "/amount"
    route = {"route-0-to": "owners", "route-0-of0": of, "route-0-place0": place, "route-0-operator0": "gt"}
    answer = client.post(path, form(**route, **{"route-0-value0": typed}))
    if wanted is None:
        page = answer.content.decode()
        assert (answer.status_code, page.count("Enter a number"), TeamAsking.objects.exists()) == (422, 1, False)
        return
    (saved,) = settings_of(aurora)["routes"]
    assert (saved.get("amount") or saved["where"]["/amount"])["gt"] == wanted
    page = client.get(path).content.decode()
    shown = typed.replace('"', "&quot;")
    assert f'name="route-0-value0" value="{shown if wanted != 99.5 else "99.5"}"' in page, "and as it was typed"


def test_in_chinese_a_kind_says_what_it_is(
    people: dict[str, Any], aurora: Any, as_person: Any, settings: Any, tmp_path: Path
) -> None:
    settings.LOCALE_PATHS = [tmp_path]
    catalogs.compile_all()
    client = as_person(people["olga"])
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "zh-hant"
    with mock.patch.object(trans_real, "_translations", {}):
        page = client.get(f"/team/{aurora.pk}/asking").content.decode()
    assert re.findall(r'<option value="(?:chat|remember|task|tool_call)">([^<]+)<', page)[:4] == [
        "對話（CHAT）", "記憶（REMEMBER）", "任務（TASK）", "工具呼叫",
    ]  # fmt: skip
