"""Who looks at what: told to the others of the team, and forgotten by itself."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from reviews.models import Looking
from tests.reviews.pages.test_queue import shown


@pytest.fixture
def ann(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


@pytest.fixture
def ben(as_person: Any, bob: Any) -> Any:
    return as_person(bob)


def token(page: str) -> str:
    return re.search(r'name="token" value="([^"]*)"', page)[1]


def opened(page: str) -> str:
    return re.search(r'id="item" data-held="([^"]*)"', page)[1]


def test_an_item_that_somebody_has_open_says_so_to_the_others_only(ann: Any, ben: Any, kuro: Any) -> None:
    held = kuro.hold()
    assert "is looking" not in ben.get(f"/queue/{held}/").content.decode()
    assert "Alice is looking" not in ann.get(f"/queue/{held}/").content.decode()
    page = ann.get(f"/queue/{held}/").content.decode()
    assert page.count("Bob is looking") == 2  # in the list, and beside the item's heading
    assert "Alice is looking" in ben.get(f"/queue/{held}/").content.decode()


def test_other_teams_are_told_nothing(as_person: Any, mallory: Any, ann: Any, kuro: Any) -> None:
    ann.get(f"/queue/{kuro.hold()}/")
    assert "looking" not in as_person(mallory).get("/queue/").content.decode()


def test_what_other_teams_look_at_is_no_news(as_person: Any, mallory: Any, other: Any, ann: Any, kuro: Any) -> None:
    held, theirs = kuro.hold(), other.hold()
    asked = {"token": token(ann.get(f"/queue/{held}/").content.decode()), "open": held, "version": "1"}
    as_person(mallory).get(f"/queue/{theirs}/")
    assert Looking.objects.filter(held__public_id=theirs).exists()
    assert ann.get("/queue/changes", asked).status_code == 204


def test_a_page_that_asks_hears_who_came_and_who_left(ann: Any, ben: Any, kuro: Any) -> None:
    held = kuro.hold()
    asked = {"token": token(ann.get("/queue/").content.decode()), "open": held, "version": "1"}
    assert ann.get("/queue/changes", asked).status_code == 204
    ben.get(f"/queue/{held}/")
    news = ann.get("/queue/changes", asked)
    assert (
        '<span id="others" hx-swap-oob="true" role="status"><span class="looking">Bob is looking'
        in news.content.decode()
    )
    asked["token"] = token(news.content.decode())
    assert ann.get("/queue/changes", asked).status_code == 204
    Looking.objects.filter(person__username="bob").update(seen_at=F("seen_at") - timedelta(seconds=20))
    gone = ann.get("/queue/changes", asked).content.decode()
    assert '<span id="others" hx-swap-oob="true" role="status"></span>' in gone
    assert "is looking" not in gone


def test_a_page_that_goes_on_asking_keeps_its_reader_there(ann: Any, ben: Any, kuro: Any) -> None:
    held = kuro.hold()
    asked = {"token": token(ben.get(f"/queue/{held}/").content.decode()), "open": held, "version": "1"}
    for seconds, is_written in ((7, False), (9, True)):
        before = timezone.now() - timedelta(seconds=seconds)
        Looking.objects.update(seen_at=before)
        assert ben.get("/queue/changes", asked).status_code == 204  # nothing else is news
        assert (Looking.objects.get().seen_at > before) is is_written


def test_nobody_stays_where_they_were_before_the_clock_was_set_back(ann: Any, ben: Any, kuro: Any, noon: Any) -> None:
    held = kuro.hold()
    ben.get(f"/queue/{held}/")
    noon.at -= timedelta(hours=1)
    assert "Bob is looking" not in ann.get(f"/queue/{held}/").content.decode()
    ben.get("/queue/changes", {"open": held})
    assert "Bob is looking" in ann.get(f"/queue/{held}/").content.decode()


def test_what_somebody_else_reads_comes_up_last(ann: Any, ben: Any, kuro: Any, decide: Any) -> None:
    third, second, first = (kuro.hold() for _ in range(3))
    assert shown(ann.get("/queue/")) == [third, second, first]
    ben.get(f"/queue/{second}/")
    following = decide(ann, third)
    assert following["Location"] == f"/queue/{first}/"
    decide(ann, first)
    assert opened(ann.get("/queue/").content.decode()) == second  # better two at one item than none


def test_a_new_page_opens_what_nobody_reads(ann: Any, ben: Any, kuro: Any) -> None:
    second, first = kuro.hold(), kuro.hold()
    assert opened(ben.get("/queue/").content.decode()) == second
    ben.get("/queue/changes", {"open": second})
    assert opened(ann.get("/queue/").content.decode()) == first


def test_an_item_that_was_decided_is_nobodys(ann: Any, ben: Any, kuro: Any, decide: Any) -> None:
    held = kuro.hold()
    ben.get(f"/queue/{held}/")
    decide(ben, held)
    assert "is looking" not in ann.get(f"/queue/{held}/").content.decode().split('id="item"')[0]


def test_whoever_has_only_the_list_in_sight_looks_at_nothing(ben: Any, kuro: Any) -> None:
    held = kuro.hold()
    ben.get("/queue/")
    ben.get("/queue/changes", {"open": held, "unseen": "1"})
    ben.get("/queue/changes", {"open": held, "version": "0", "unseen": "1"})
    ben.get("/queue/changes")
    assert not Looking.objects.exists()
    ben.get("/queue/changes", {"open": held})
    assert Looking.objects.get().held.public_id == held
