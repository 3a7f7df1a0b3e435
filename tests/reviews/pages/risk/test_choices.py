"""What a team makes of its learned risk: who may choose, what it would have come to, and what is kept."""

from __future__ import annotations

import re
from typing import Any

import pytest

from metacog.models import AuditEvent, Team
from reviews.models import LearnedRisk
from tests.reviews.pages.risk.learned import keep, learned, text

CHOSEN = {"budget": "40", "within": "hold", "samples": "on", "do": "save"}
STORED = ("risk_order", "risk_budget", "risk_budget_holds", "risk_samples")


def stored() -> tuple[Any, ...]:
    return Team.objects.values_list(*STORED).get()


@pytest.fixture
def address(aurora: Any) -> str:
    return f"/statistics/risk/{aurora.pk}/"


def test_an_owner_chooses_and_the_audit_log_says_so(as_person: Any, olga: Any, aurora: Any, address: str) -> None:
    keep(aurora, learned())
    client = as_person(olga)
    assert "held by a rule, a pattern or a threshold stay held" in text(client.get("/statistics/risk/"))
    page = client.post(address, CHOSEN, follow=True)
    assert page.redirect_chain[-1][0] == f"/statistics/risk/?team={aurora.pk}"
    assert "Saved. From now on the budget holds the riskiest of what would pass, up to 40 a day." in text(page)
    assert stored() == (False, 40, True, True)
    assert Team.objects.get().risk_cut == pytest.approx(0.6)  # of 3,000 in 30 days 1,200: the riskiest four tenths
    assert AuditEvent.objects.filter(action="learned-risk-chosen").count() == 1
    assert "Olga changed how the team uses learned risk" in text(client.get("/audit/"))
    client.post(address, {"order": "on", "do": "save"})
    assert stored() == (True, None, False, False)


def test_it_says_what_a_budget_would_have_come_to_without_keeping_it(
    as_person: Any, olga: Any, aurora: Any, address: str
) -> None:
    keep(aurora, learned())
    client, told = as_person(olga), "Of 3,000 items that passed in 30 days, 1,200 would have been reviewed."
    whole = client.post(address, CHOSEN | {"do": "preview"})
    part = client.post(address, CHOSEN, headers={"hx-request": "true"})
    for answer in (whole, part):
        assert told in text(answer)
        assert "not known yet: 0 of 0 spot checks should have been held" in text(answer)
    assert 'value="40"' in whole.content.decode()
    assert b"<html" not in part.content
    for wrong in ("0", "10001", "many"):
        assert client.post(address, CHOSEN | {"budget": wrong}).status_code == 422
    assert stored() == (True, None, False, False)


def test_a_budget_acts_from_the_moment_it_is_saved_by_the_risks_of_the_last_days(
    as_person: Any, olga: Any, aurora: Any, kuro: Any, address: str
) -> None:
    row = keep(aurora, learned())
    row.passing = {}  # nothing was kept when it was learned
    row.save()
    told = "Nothing that could have been reviewed passed lately"
    assert told in text(as_person(olga).post(address, CHOSEN, follow=True))
    for number in range(30):
        kuro.respond(f"Parcel {number} is on its way{' with the cache' if number < 3 else ''}.")
    shown = text(as_person(olga).post(address, CHOSEN | {"budget": "1"}, headers={"hx-request": "true"}))
    assert "Today so far 30 items passed, of which 1 would have been reviewed." in shown
    assert "From now on the budget holds" in text(as_person(olga).post(address, CHOSEN | {"budget": "1"}, follow=True))
    held = kuro.respond("The cache of the parcel is with the cache.")["items"][0]
    assert (held["disposition"], held["by_budget"]) == ("hold", True)


def test_how_far_to_look_is_a_curve_whose_mark_the_address_moves(as_person: Any, alice: Any, aurora: Any) -> None:
    keep(aurora, learned())
    answer = as_person(alice).get("/statistics/risk/?look=30")
    page = text(answer)
    assert "Review depth" in page
    assert re.search(r"Reviewing 30% finds \d+% of what people would reject \(95% CI \d+–\d+%\)", page)
    assert 'type="range" id="look-words" min="0" max="13" step="1" value="6"' in answer.content.decode()
    keep_none = Team.objects.get()
    LearnedRisk.objects.all().delete()
    assert "Review depth" not in text(as_person(alice).get(f"/statistics/risk/?team={keep_none.pk}"))


@pytest.mark.parametrize("kind", ["", "length"])
def test_what_is_not_proven_cannot_be_chosen(as_person: Any, olga: Any, aurora: Any, address: str, kind: str) -> None:
    keep(aurora, learned("length" if kind else "nothing"))
    assert Team.objects.get().risk_kind == kind
    client = as_person(olga)
    page = client.get("/statistics/risk/").content.decode()
    assert "become available once the test is passed" in page
    assert page.count("disabled") == (5 if kind else 7)
    client.post(address, CHOSEN)
    assert stored() == (not kind, None, False, False)


def test_others_read_what_was_chosen(as_person: Any, carla: Any, mallory: Any, aurora: Any, address: str) -> None:
    keep(aurora, learned())
    Team.objects.filter(pk=aurora.pk).update(risk_budget=40, risk_budget_holds=True)
    page = as_person(carla).get("/statistics/risk/")
    assert "40 items a day, held for review" in text(page)
    assert '<input type="number"' not in page.content.decode()
    assert as_person(carla).post(address, CHOSEN).status_code == 403
    assert as_person(mallory).post(address, CHOSEN).status_code == 404
    assert Team.objects.get(pk=aurora.pk).risk_samples is False


def test_the_page_of_spot_checks_says_where_the_riskiest_come_with_them(
    as_person: Any, olga: Any, aurora: Any, address: str
) -> None:
    keep(aurora, learned())
    client, told = as_person(olga), "The team's review budget adds the responses with the highest risk."
    client.post(address, CHOSEN)
    assert told not in text(client.get("/spot-checks/"))
    client.post(address, CHOSEN | {"within": "pass"})
    assert told in text(client.get("/spot-checks/"))


def test_a_budget_of_before_can_be_taken_back_when_the_gate_is_passed_no_more(
    as_person: Any, olga: Any, aurora: Any
) -> None:
    aurora.risk_budget, aurora.risk_budget_holds = 40, True
    aurora.save()
    client = as_person(olga)
    assert 'value="40"' in client.get("/statistics/risk/").content.decode()
    client.post(f"/statistics/risk/{aurora.pk}/", {"budget": "", "within": "hold", "do": "save"})
    aurora.refresh_from_db()
    assert (aurora.risk_budget, aurora.risk_budget_holds) == (None, False)


def test_what_a_budget_would_have_found_is_told_by_spot_checks_alone(as_person: Any, olga: Any, aurora: Any) -> None:
    row = keep(aurora, learned())
    row.found |= {"passing": row.found["gate"], "checks": 120, "misses": 30}
    row.save()
    Team.objects.update(risk_budget=40)
    assert "By the newest spot checks, these contain about" in text(as_person(olga).get("/statistics/risk/"))
