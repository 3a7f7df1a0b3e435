"""The Statistics page on the learned risk: whether it is worth going by, and the numbers below that sentence."""

from __future__ import annotations

import csv
import re
from typing import Any

import pytest
from django.utils import timezone

from metacog.models import Team
from reviews.models import LearnedRisk
from tests.reviews.pages.risk.learned import keep, learned, text
from tests.tables import table


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


@table(
    "by, number, turns, said",
    [
        ("word", 60, 1, "Too few decisions yet: 60 of the 100 needed."),
        ("word", 400, 1, r"Reviewing the tenth of items with the highest risk finds \d+% of rejections "
         r"\(95% CI \d+–\d+%, n = 360\)\. Ordered by length, a tenth finds \d+%; by chance, 10%\."),
        ("length", 400, 1, "Not used yet: no better than length (n = 360). Until then the queue is ordered by "
         "length, which beats chance."),
        ("nothing", 400, 1, "Not used yet: no better than chance (n = 360). Learned risk"),
        ("never", 400, 1, "Too one-sided yet: at least 10 rejections and 10 approvals are needed among the older "
         "decisions, and as many among the newest (0 of 400 were rejections)."),
        ("word", 400, 100, "Too few sessions yet: the 400 decisions must come from at least 10 sessions among the "
         "older and as many among the newest."),
    ],
    rolled_back=True,
)  # fmt: skip
def test_one_sentence_says_whether_it_is_worth_it(
    client: Any, aurora: Any, kuro: Any, by: str, number: int, turns: int, said: str
) -> None:
    keep(aurora, learned(by, number, turns=turns))
    pattern = said if "\\" in said else re.escape(said).replace(r"\.\*", ".*")
    for address in ("/statistics/", f"/statistics/?agent={kuro.id}", "/statistics/risk/"):
        page = text(client.get(address))
        assert re.search(pattern.removesuffix(r"\ Learned\ risk"), page), address


def test_it_names_no_order_that_an_owner_switched_off(client: Any, aurora: Any, kuro: Any) -> None:
    keep(aurora, learned("length"))
    Team.objects.update(risk_order=False)
    for address in ("/statistics/", "/statistics/risk/"):
        page = text(client.get(address))
        assert "(n = 360). The queue is ordered by score: the order by risk is switched off." in page
        assert "Until then" not in page


def test_before_anything_was_learned_it_says_what_it_takes(client: Any, kuro: Any) -> None:
    told = "Nothing learned yet. Learning runs once a day, from 100 decisions on."
    assert told in text(client.get("/statistics/"))
    assert told in text(client.get("/statistics/risk/"))


def test_below_it_are_the_curve_the_calibration_and_what_more_decisions_would_help(
    client: Any, aurora: Any, kuro: Any
) -> None:
    row = keep(aurora, learned(), calibration_error=0.031)
    kuro.respond()
    page = text(client.get("/statistics/risk/"))
    found = row.found["gate"]
    assert f"10% {100 * found['caught'][3]:.0f}%" in page
    assert "(limit 0.05): percentages are shown." in page
    assert re.search(r"Each doubling of decisions (raised the AUC by about|changed the AUC by) −?0\.\d+: ", page)
    LearnedRisk.objects.update(found=row.found | {"curve": [[70, 0.61], [140, 0.66], [280, 0.68]]})
    page = text(client.get("/statistics/risk/"))
    assert "raised the AUC by about 0.035: 280 more may add as much." in page
    assert "Each point is tested on the newest three tenths of the decisions." in page, "below, all test"
    LearnedRisk.objects.update(found=row.found | {"gate": found | {"calibration_error": 0.06}})
    assert "only ranks are shown, no percentages." in text(client.get("/statistics/risk/"))
    few = {"calibration_error": 1.0, "bins": [[0.1, 0.2, 4], [0.4, 0.3, 5]]}
    for changed, curve, sentences in (
        ({"calibration_error": 0.0}, [0.61, 0.6101], ["No clear difference between predicted and actual shares (n = ",
                                                      "Each doubling of decisions left the AUC as it was: "]),
        (few, [0.61, 0.58], ["Too few decisions yet to test percentages (n = 9): only ranks",
                             "changed the AUC by −0.030: more"]),
    ):  # fmt: skip
        gate = found | changed
        LearnedRisk.objects.update(found=row.found | {"gate": gate, "curve": [*zip((90, 180), curve, strict=True)]})
        page = text(client.get("/statistics/risk/"))
        assert all(each in page for each in sentences), sentences
        assert "0.000" not in page
    LearnedRisk.objects.update(found=row.found | {"curve": []})
    page = client.get("/statistics/risk/")
    assert "Not drawn yet: it takes approvals and rejections among the newest three tenths" in text(page)
    assert 'aria-labelledby="more-title-' not in page.content.decode(), "no empty chart"
    rows = [*csv.reader(client.get("/statistics/risk.csv").content.decode("utf-8-sig").splitlines())]
    assert rows[0][:4] == ["looked_at", "found", "found_low", "found_high"]
    assert [float(each) for each in rows[4][:2]] == [0.1, found["caught"][3]]


def test_an_agent_with_decisions_enough_is_told_of_by_itself(client: Any, aurora: Any, kuro: Any) -> None:
    row = keep(aurora, learned())
    row.pk, row.agent = None, aurora.agents.get()
    row.found = learned("word", 60).as_dict()
    row.save(force_insert=True)
    told = "kuro : Too few decisions yet: 60 of the 100 needed."
    assert told.replace(" :", ":") in text(client.get(f"/statistics/?agent={kuro.id}"))
    assert told in text(client.get("/statistics/risk/"))
    assert told not in text(client.get("/statistics/"))


def test_nothing_of_another_team_is_told(client: Any, borealis: Any, other: Any, kuro: Any) -> None:
    keep(borealis, learned())
    assert client.get(f"/statistics/risk/?team={borealis.pk}").status_code == 404
    assert client.get(f"/statistics/risk.csv?team={borealis.pk}").status_code == 404
    assert "of rejections (95%" not in text(client.get("/statistics/"))
    assert Team.objects.get(pk=borealis.pk).created_at < timezone.now()


def test_the_first_tenth_is_worth_it_only_where_its_interval_says_so(client: Any, aurora: Any, kuro: Any) -> None:
    row = keep(aurora, learned())
    assert "n = 360). Ordered by length, a tenth finds " in text(client.get("/statistics/"))
    low = [0.05] * len(row.found["gate"]["caught_low"])
    LearnedRisk.objects.update(found=row.found | {"gate": row.found["gate"] | {"caught_low": low}})
    page = text(client.get("/statistics/"))
    assert "The whole order beats chance, but its first tenth does not clearly do so yet." in page
